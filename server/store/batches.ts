// Removes many rows in short writes, so that others wait for none long.

export async function inBatches(write: () => Promise<number | boolean>): Promise<void> {
  while (true) {
    if (!(await write())) return
  }
}
