// One readable error for a program that is compiled as older C++, instead of a page of them.
// FLAGS: -std=c++17
// EXPECT: the launcher headers of ockc need C\+\+20: compile with -std=c\+\+20
#include "vecadd.h"
