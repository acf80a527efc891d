// The main thread reads in one transaction for each turn.
import { unavailable } from '../../basics/errors.ts'
import { type Bound, boundValues, type Read, Texts } from '../statements.ts'
import { asStoreError, type Database, type Statement } from './database.ts'

const texts = new Texts('sqlite', (text) => text)

/** The process keeps these connections, because garbage collection would close them. */
const abandoned: Database[] = []

/** A transaction for each read costs 2.5 us. Commits end the turn's: callers read their writes. */
export class Reader {
  readonly #database: Database
  readonly #statements = new Map<string, Statement>()
  readonly #begin: Statement
  readonly #commit: Statement
  readonly #dataVersion: Statement
  #kept = new WeakMap<object, unknown>()
  #keptVersion: unknown
  #isOpen = false
  #isClosed = false
  readonly #ofMoment: Reader | undefined
  #lastMoment: Promise<unknown> = Promise.resolve()

  constructor(database: Database, forMoments?: Database) {
    this.#database = database
    this.#ofMoment = forMoments && new Reader(forMoments)
    this.#begin = database.prepare('begin')
    this.#commit = database.prepare('commit')
    this.#dataVersion = database.prepare('pragma data_version')
  }

  one<Row extends unknown[]>(sql: string, ...values: Bound[]): Row | undefined {
    return this.#read('get', sql, values) as Row | undefined
  }

  all<Row extends unknown[]>(sql: string, ...values: Bound[]): Row[] {
    return this.#read('all', sql, values) as Row[]
  }

  /** Until the database changes, the row is kept for the object `key`. */
  kept<Row extends unknown[]>(key: object, sql: string, values: () => Bound[]): Row | undefined {
    this.#beginSnapshot()
    const known = this.#kept.get(key)
    if (known !== undefined) return known as Row
    const row = this.one<Row>(sql, ...values())
    if (row !== undefined) this.#kept.set(key, row)
    return row
  }

  /** This is slower than `all`. */
  objects<Row>(sql: string, ...values: Bound[]): Row[] {
    const rows = this.#read('all', sql, values, false) as Row[]
    // SQLite's objects have no prototype.
    return rows.map((row) => ({ ...row }))
  }

  async run<Result>(read: Read<Result>): Promise<Result> {
    let step = read.next()
    while (!step.done) {
      const rows = this.objects(texts.of(step.value), ...boundValues(step.value, 'sqlite'))
      step = read.next(step.value.kind === 'get' ? rows[0] : rows)
    }
    return step.value
  }

  endSnapshot = (): void => {
    if (!this.#isOpen) return
    this.#isOpen = false
    try {
      this.#commit.run()
    } catch {
      if (this.#database.isTransaction) this.#database.exec('rollback')
    }
  }

  /** All turns of the work see one moment. One such work runs after another. */
  atOneMoment<Result>(work: (reader: Reader) => Promise<Result>): Promise<Result> {
    const reader = this.#ofMoment as Reader
    const result = this.#lastMoment.then(() => work(reader)).finally(reader.endSnapshot)
    this.#lastMoment = result.catch(() => undefined)
    return result
  }

  /** `isFileLost`: closing the last connection would write to a wrong file. */
  close({ isFileLost = false } = {}): void {
    if (this.#isClosed) return
    this.#ofMoment?.close({ isFileLost })
    this.endSnapshot()
    this.#isClosed = true
    if (isFileLost) abandoned.push(this.#database)
    else this.#database.close()
  }

  #read(method: 'get' | 'all', sql: string, values: Bound[], asArrays = true): unknown {
    try {
      this.#beginSnapshot()
      return this.#prepared(sql, asArrays)[method](...values)
    } catch (error) {
      throw asStoreError(error)
    }
  }

  #beginSnapshot(): void {
    if (this.#isOpen) return
    if (this.#isClosed) throw unavailable('The store is closed')
    try {
      this.#begin.run()
      this.#isOpen = true
      if (this.#ofMoment !== undefined) setImmediate(this.endSnapshot)
      const version = this.#dataVersion.get()?.data_version
      if (version !== this.#keptVersion) this.#kept = new WeakMap()
      this.#keptVersion = version
    } catch (error) {
      this.#kept = new WeakMap()
      throw asStoreError(error)
    }
  }

  #prepared(sql: string, asArrays: boolean): Statement {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#database.prepare(sql)
    statement.setReturnArrays(asArrays)
    this.#statements.set(sql, statement)
    return statement
  }
}
