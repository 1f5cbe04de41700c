input()
values = list(map(int, input().split()))
print(max(abs(after - before) for before, after in zip(values, values[1:])))
