def gaps(values):
    values = sorted(values)
    return [after - before for before, after in zip(values, values[1:])]
