"""The verbs, from their arguments to their reports.

`verbs` has the public signatures of `why`, `fix` and `rerun`; `waiting` has the same for code without an event loop,
which `sync` runs; `as_called` lets a report spell the next call.

All of them: `case` opens a recorded decision, `caveats` says what to know of it first. `asking` holds who is asked
under which limits, `judging` and `judges` say what a reply did, `pace`, `spent` and `ending` how far a run is, what it
cost and why it ended.

`why`: `explain`, then `investigation`, one search for one decision. Into it go `posing` (the decision as a problem for
the search), `suspects`, `hunch` and `lead` (where to look first: named, asked for, read from likelihoods by `reading`)
and `salting` (samples of its own for what decides); `telling` turns its finding into a report. With depth `upstream`,
`upstream` asks again for the reply that wrote the cause, which `authors` finds and `substance` compares.

`fix`: `repair`, which finds the cause and measures `proposals` (some of them a `guard`) in a `trial`, also on
`controls` and on other `forms` of the cause. `panel` answers the trial's `arms`, `verdicts` and `holding` read the
answers, `shortlist` and `coverage` report them, `remembered` keeps the changes by name.

`rerun`: `rerunning`, with a change from `changes`; `session` is how a test session speaks for it.

`write_test`: `regression`, with the `wanted` decisions, `rendering` for the text and `placing` for the file.

`doctor` on the command line: `canary`.
"""
