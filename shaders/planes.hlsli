// Where planes of a tensor begin: what its last two axes make. A kernel that includes this file has in its constants
// plane_axes, how many axes there are outside of planes, at most six; and these axes, innermost first, two in each of
// axes01, axes23 and axes45: x and z their extents, y and w their strides, in elements.
uint2 plane_axis(uint a) {
  const uint4 both = a < 2 ? constants.axes01 : a < 4 ? constants.axes23 : constants.axes45;
  return a % 2 == 0 ? both.xy : both.zw;
}

uint plane_offset(uint plane) {
  uint offset = 0;
  [loop]
  for (uint a = 0; a < constants.plane_axes; ++a) {
    const uint2 axis = plane_axis(a);
    const uint next = plane / axis.x;
    offset += (plane - next * axis.x) * axis.y;
    plane = next;
  }
  return offset;
}
