// Which clock do the processes of a machine share? `performance.now()` begins anew in each.

/** Milliseconds, of which only differences mean something. */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
