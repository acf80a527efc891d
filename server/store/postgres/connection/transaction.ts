// Runs on PostgreSQL what is written once for both engines.
import type pg from 'pg'
import type { AuditEntry, ChangeSignal } from '../../events.ts'
import {
  boundValues,
  type Read,
  type SqlStatement,
  type Statement,
  Texts,
  type Write,
} from '../../statements.ts'
import type { Notice } from '../change-signals/listening-connection.ts'

type Prepared = { name: string; text: string }
let prepared = 0
const texts = preparedWith('')
const lockingTexts = preparedWith(' for update')

function preparedWith(end: string): Texts<Prepared> {
  return new Texts('postgres', (text) => ({
    name: `${++prepared} ${text.trim().slice(0, 40)}`,
    text: text + end,
  }))
}

export async function runRead<Result>(
  read: Read<Result>,
  query: (query: pg.QueryConfig) => Promise<{ rows: unknown[] }>,
): Promise<Result> {
  let step = read.next()
  while (!step.done) {
    const { rows } = await query(queryOf(step.value))
    step = read.next(step.value.kind === 'get' ? rows[0] : rows)
  }
  return step.value
}

function queryOf(statement: SqlStatement): pg.QueryConfig {
  return {
    ...(statement.locks ? lockingTexts : texts).of(statement),
    values: boundValues(statement, 'postgres'),
  }
}

export class Transaction {
  readonly #client: pg.ClientBase
  readonly #isOnCitus: boolean
  readonly #sent: Promise<void>[] = []
  #failure: { error: unknown } | undefined
  readonly signals: ChangeSignal[] = []
  readonly recorded: AuditEntry[] = []
  /** From then on a lost connection leaves the outcome unknown. */
  isCommitting = false

  constructor(client: pg.ClientBase, { isOnCitus }: { isOnCitus: boolean }) {
    this.#client = client
    this.#isOnCitus = isOnCitus
  }

  /** The transaction is still open after a failure, unless the connection is lost. */
  async run<Result>(write: Write<Result>): Promise<Result> {
    try {
      this.#send({ text: 'begin' })
      let step = write.next()
      while (!step.done) step = write.next(await this.#outcomeOf(step.value))
      await this.#commit()
      return step.value
    } catch (error) {
      await Promise.all(this.#sent)
      throw this.#failure === undefined ? error : this.#failure.error
    }
  }

  async #outcomeOf(statement: Statement): Promise<unknown> {
    switch (statement.kind) {
      case 'record':
        return void this.recorded.push(...statement.entries)
      case 'signal':
        return void this.signals.push(statement.signal)
      default:
        return statement.only === 'citus' && !this.#isOnCitus ? undefined : this.#found(statement)
    }
  }

  async #found(statement: SqlStatement): Promise<unknown> {
    if (statement.kind === 'send') return this.#send(queryOf(statement))
    const { rows, rowCount } = await this.#client.query(queryOf(statement))
    if (statement.kind === 'run') return rowCount ?? 0
    return statement.kind === 'get' ? rows[0] : rows
  }

  async #commit(): Promise<void> {
    const others = this.signals.filter(({ about }) => about !== 'inbox')
    const notices = others.map((signal) => JSON.stringify({ signal } satisfies Notice))
    const text = "select pg_notify('carillon', notice) from unnest($1::text[]) notice"
    if (notices.length > 0)
      this.#send({ name: 'sendNotices', text, values: [[...new Set(notices)]] })
    this.isCommitting = true
    const { command } = await this.#client.query({ text: 'commit' })
    await Promise.all(this.#sent)
    if (this.#failure !== undefined) throw this.#failure.error
    if (command !== 'COMMIT') throw new Error(`The transaction ended with ${command}`)
  }

  #send(query: pg.QueryConfig): void {
    const keep = (error: unknown) => {
      this.#failure ??= { error }
    }
    this.#sent.push(this.#client.query(query).then(() => {}, keep))
  }
}
