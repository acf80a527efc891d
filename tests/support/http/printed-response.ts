// Compares a response with the one on a page. Any id matches an id (equal ids on the page must be
// equal in the responses), any time a time, and `…` any text without a space.
import assert from 'node:assert/strict'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const requestId = /^[0-9a-f]{8}-[0-9a-z]+$/
/** Numbers from here on are seconds since 1970, as in tokens. */
const firstSecond = 1_000_000_000

export class PrintedResponses {
  readonly #idBehind = new Map<string, string>()

  /** Throws an AssertionError that names the place. */
  compareJson(printed: unknown, actual: unknown, place = 'response'): void {
    if (typeof printed === 'string') this.#compareString(printed, actual, place)
    else if (typeof printed === 'object' && printed !== null)
      this.#compareFields(printed, actual, place)
    else if (typeof printed === 'number' && printed >= firstSecond)
      assert.ok(
        typeof actual === 'number' && actual >= firstSecond,
        `${place} is not a time: ${actual}`,
      )
    else assert.equal(actual, printed, place)
  }

  #compareFields(printed: object, actual: unknown, place: string): void {
    assert.ok(typeof actual === 'object' && actual !== null, `${place} is ${actual}`)
    assert.deepEqual(
      Object.keys(actual).sort(),
      Object.keys(printed).sort(),
      `the fields of ${place}`,
    )
    for (const [name, value] of Object.entries(printed))
      this.compareJson(value, (actual as Record<string, unknown>)[name], `${place}.${name}`)
  }

  #compareString(printed: string, actual: unknown, place: string): void {
    assert.ok(typeof actual === 'string', `${place} is ${actual}`)
    const shape =
      [uuid, time, requestId].find((one) => one.test(printed)) ??
      new RegExp(`^${patternOf(printed)}$`)
    assert.match(actual, shape, place)
    if (shape === uuid) this.#compareId(printed, actual, place)
  }

  #compareId(printed: string, actual: string, place: string): void {
    const known = this.#idBehind.get(printed)
    const isNew = known === undefined && ![...this.#idBehind.values()].includes(actual)
    assert.ok(
      isNew || known === actual,
      `${place} is not the id that the page shows in other places`,
    )
    this.#idBehind.set(printed, actual)
  }
}

/** Throws AssertionError unless `output` contains the lines of the page. */
export function compareText(printed: string, output: string): void {
  assert.match(output, new RegExp(patternOf(printed.trimEnd())))
}

function patternOf(printed: string): string {
  return printed.split('…').map(RegExp.escape).join('\\S+')
}
