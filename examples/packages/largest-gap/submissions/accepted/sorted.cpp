#include <bits/stdc++.h>

int main() {
    int n;
    std::cin >> n;
    std::vector<int> values(n);
    for (int& value : values) std::cin >> value;
    std::sort(values.begin(), values.end());
    int largest = 0;
    for (int i = 1; i < n; ++i) largest = std::max(largest, values[i] - values[i - 1]);
    std::cout << largest << '\n';
}
