// Does an answer agree with the one that a page shows? Word for word, but for what differs each time: an id is an id
// (the same one wherever the page shows the same), a time is a time, and `…` is anything without a space.
import assert from 'node:assert/strict'

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const requestId = /^[0-9a-f]{8}-[0-9a-z]+$/
/** Seconds since 1970, as tokens have them. */
const firstSecond = 1_000_000_000

export class ShownAnswers {
  readonly #idBehind = new Map<string, string>()

  /** Throws AssertionError that names the place. */
  compareJson(shown: unknown, answered: unknown, place = 'answer'): void {
    if (typeof shown === 'string') this.#compareString(shown, answered, place)
    else if (typeof shown === 'object' && shown !== null) this.#compareFields(shown, answered, place)
    else if (typeof shown === 'number' && shown >= firstSecond)
      assert.ok(typeof answered === 'number' && answered >= firstSecond, `${place} is no time: ${answered}`)
    else assert.equal(answered, shown, place)
  }

  /** Items of an array as well: their names are their numbers. */
  #compareFields(shown: object, answered: unknown, place: string): void {
    assert.ok(typeof answered === 'object' && answered !== null, `${place} is ${answered}`)
    assert.deepEqual(Object.keys(answered).sort(), Object.keys(shown).sort(), `the fields of ${place}`)
    for (const [name, value] of Object.entries(shown))
      this.compareJson(value, (answered as Record<string, unknown>)[name], `${place}.${name}`)
  }

  #compareString(shown: string, answered: unknown, place: string): void {
    assert.ok(typeof answered === 'string', `${place} is ${answered}`)
    const shape = [uuid, time, requestId].find((one) => one.test(shown)) ?? new RegExp(`^${patternOf(shown)}$`)
    assert.match(answered, shape, place)
    if (shape === uuid) this.#compareId(shown, answered, place)
  }

  #compareId(shown: string, answered: string, place: string): void {
    const known = this.#idBehind.get(shown)
    const isNew = known === undefined && ![...this.#idBehind.values()].includes(answered)
    assert.ok(isNew || known === answered, `${place} is not the id that the page shows in other places`)
    this.#idBehind.set(shown, answered)
  }
}

/** Throws AssertionError where the lines that are shown are not among those that were printed. */
export function compareText(shown: string, printed: string): void {
  assert.match(printed, new RegExp(patternOf(shown.trimEnd())))
}

function patternOf(shown: string): string {
  return shown.split('…').map(RegExp.escape).join('\\S+')
}
