// For tests: loaded before the program (--import), it sets the process's wall clock back by an hour when the process gets
// SIGUSR2, as an operator or a wrong time server would. The monotonic clock and all timers go on.
const { now: wallClock } = Date
let offsetMs = 0

Date.now = () => wallClock() + offsetMs

process.on('SIGUSR2', () => {
  offsetMs = -3_600_000
  process.stderr.write('set back\n')
})
