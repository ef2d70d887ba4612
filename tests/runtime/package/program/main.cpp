#include <cstdio>

int run();  // middle.cpp: this file sees no generated header

int main() {
    return run();
}
