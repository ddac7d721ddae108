#include <gradus/gradus.h>

#include <iostream>

int main() { std::cout << gradus::ones({2, 3}) * 2 << '\n'; }
