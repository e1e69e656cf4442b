// GEMM as a case that any backend can run.
#pragma once

#include "plan_case.hpp"
#include "reference/matrix_products.hpp"

namespace dmlop::test {

inline PlanCase gemm_case(const MatrixProduct& product, const Tensor& expected) {
  PlanCase a_case{"DML_OPERATOR_GEMM",
                  {{"TransA", product.transposes_a ? "TRANSPOSE" : "NONE"},
                   {"TransB", product.transposes_b ? "TRANSPOSE" : "NONE"},
                   {"Alpha", product.alpha},
                   {"Beta", product.beta}},
                  {{"ATensor", product.a}, {"BTensor", product.b}},
                  {{"OutputTensor", expected}}};
  a_case.add_if("CTensor", product.c);
  return a_case;
}

}  // namespace dmlop::test
