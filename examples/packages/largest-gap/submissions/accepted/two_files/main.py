from gaps import gaps

input()
print(max(gaps(map(int, input().split()))))
