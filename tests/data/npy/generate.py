#!/usr/bin/env python3
"""Writes the .npy files of this folder with NumPy; tests/files/npy_test.cpp says what they hold."""
import os

import numpy

FOLDER = os.path.dirname(os.path.abspath(__file__))
TYPES = ["f2", "f4", "f8", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8"]


def path(name):
    return os.path.join(FOLDER, name + ".npy")


def save_version(name, array, version):
    with open(path(name), "wb") as file:
        numpy.lib.format.write_array(file, array, version)


matrix = numpy.array([[0, 1, 2], [10, 11, 12]])
for element in TYPES:
    for order, endian in (("<", "little"), (">", "big")):
        array = matrix.astype(order + element)
        numpy.save(path(f"{element}_{endian}_c"), array)
        numpy.save(path(f"{element}_{endian}_fortran"), numpy.asfortranarray(array))

for dimensions in range(1, 9):
    shape = (2, 1, 3, 1, 2, 1, 1, 2)[:dimensions]
    numpy.save(path(f"dimensions_{dimensions}"), numpy.ones(shape, "<f4"))

for major in (1, 2, 3):
    save_version(f"version_{major}", matrix.astype("<f4"), (major, 0))
