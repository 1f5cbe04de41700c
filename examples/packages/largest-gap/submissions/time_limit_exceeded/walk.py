"""Walk along the number line, one step after another."""

input()
values = set(map(int, input().split()))
largest = gap = 0
for place in range(min(values), max(values) + 1):
    if place in values:
        largest, gap = max(largest, gap), 0
    gap += 1
print(largest)
