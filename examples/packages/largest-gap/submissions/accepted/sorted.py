input()
values = sorted(map(int, input().split()))
print(max(after - before for before, after in zip(values, values[1:])))
