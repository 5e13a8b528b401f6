import runtape

report = runtape.why("last", "tool:refund", budget=200)
for cause in report.causes:
    print(cause.kind, cause.refs, cause.with_, cause.without, cause.p)
print(report.headline)
