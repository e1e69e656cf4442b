#include "json_once.hpp"

DMLOP_JSON_ONCE()
