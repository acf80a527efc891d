// A clock that all processes of the machine share. `performance.now()` starts at zero in each process.

/** Milliseconds since an arbitrary moment: only differences have a meaning. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
