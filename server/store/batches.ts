// Removes many rows in several short writes, so that no other write waits long.

export async function inBatches(write: () => Promise<number | boolean>): Promise<void> {
  while (true) {
    if (!(await write())) return
  }
}
