// Runs a read that is written once for both engines, on the main thread.
import type { Read } from '../statements/statements.ts'
import { boundValues, Texts } from '../statements/templates.ts'
import type { Reader } from './connection.ts'

const texts = new Texts('sqlite', (text) => text)

export function runRead<Result>(read: Read<Result>, reader: Reader): Result {
  let step = read.next()
  while (!step.done) {
    const rows = reader.objects(texts.of(step.value), ...boundValues(step.value, 'sqlite'))
    step = read.next(step.value.kind === 'get' ? rows[0] : rows)
  }
  return step.value
}
