// Node loads it before the program (--import). SIGUSR2 sets the wall clock of the process back by
// an hour, as an operator or a wrong time server would; the monotonic clock and timers do not
// change.
const { now: wallClock } = Date
let offsetMs = 0

Date.now = () => wallClock() + offsetMs

process.on('SIGUSR2', () => {
  offsetMs = -3_600_000
  process.stderr.write('set back\n')
})
