// The checksums of what a release publishes. They are taken before tools run that no lock file holds, and compared after.
import { hash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** By the name of each file in the folder that a release publishes. */
export type Checksums = Readonly<Record<string, string>>

export function checksumsOf(dist: string): Checksums {
  const files = globSync(join(dist, 'carillon*')).sort()
  return Object.fromEntries(
    files.map((file) => [basename(file), hash('sha256', readFileSync(file))]),
  )
}

/** Throws if a file of `before` is gone or differs. New files may have come. */
export function refuseChanged(before: Checksums, after: Checksums): void {
  const changed = Object.keys(before).filter((file) => before[file] !== after[file])
  if (changed.length > 0)
    throw new Error(`a tool changed what the release publishes: ${changed.join(', ')}`)
}
