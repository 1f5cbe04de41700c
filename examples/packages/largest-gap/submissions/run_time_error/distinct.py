input()
values = sorted(set(map(int, input().split())))  # of equal integers one is left, and no gap
print(max(after - before for before, after in zip(values, values[1:])))
