// The file of a backup: gzip-compressed lines of JSON. A header; for each table a line that names its columns, then its rows
// as arrays; at the end a footer with the count and the hash of each table, and the hash of all lines before the footer.
// It restores into either engine, and a person can read it with `gunzip -c`.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { CarillonError, messageOf } from '../../errors.ts'
import { type Digest, Digesting, differenceOf, lineOf } from './digest.ts'
import { type Counts, type Engine, type Place, rowsInBatch, type Source } from './endpoint/endpoint.ts'
import { type Batch, columnsOf, newestMigration, type Row, type Table, tables } from './endpoint/tables.ts'

const format = 'carillon backup'
const version = 1
const footerStart = '{"digests":'

export type DumpHeader = {
  format: typeof format
  version: number
  /** The newest migration that the database had. */
  schema: string
  engine: Engine
  /** ISO 8601. */
  takenAt: string
}
type Footer = { digests: readonly Digest[]; sha256: string }

/** Writes all rows to the existing, empty file at `path`, and returns what was written. */
export async function writeDump(
  path: string,
  {
    source,
    onRows,
    ...about
  }: { source: Source; onRows: (count: number) => void } & Pick<DumpHeader, 'schema' | 'engine' | 'takenAt'>,
): Promise<Digest[]> {
  const digesting = new Digesting()
  const hash = createHash('sha256')
  let digests: Digest[] = []
  async function* lines(): AsyncGenerator<string> {
    const hashed = (text: string) => {
      hash.update(text)
      return text
    }
    yield hashed(objectLine({ format, version, ...about } satisfies DumpHeader))
    let named = 0
    const nameUpTo = (last: number) => {
      const names = tables.slice(named, last + 1).map((table) => objectLine(headOf(table)))
      named = Math.max(named, last + 1)
      return names.join('')
    }
    for await (const batch of source.batchesAfter(null)) {
      digesting.add(batch)
      yield hashed(nameUpTo(tables.indexOf(batch.table)) + batch.rows.map(lineOf).join(''))
      onRows(batch.rows.length)
    }
    yield hashed(nameUpTo(tables.length - 1))
    digests = digesting.end()
    yield objectLine({ digests, sha256: hash.digest('hex') } satisfies Footer)
  }
  // r+: if the file was removed since it was created, it is not created again.
  await pipeline(lines, createGzip(), createWriteStream(path, { flags: 'r+' }))
  return digests
}

/** A backup file that was read from end to end and is intact. */
export class Dump implements Source {
  readonly header: DumpHeader
  readonly digests: readonly Digest[]
  readonly #path: string

  private constructor(path: string, header: DumpHeader, digests: readonly Digest[]) {
    this.#path = path
    this.header = header
    this.digests = digests
  }

  /** Throws UNPROCESSABLE if the file is truncated, changed, or of another schema. */
  static async open(path: string, onRows: (count: number) => void = () => {}): Promise<Dump> {
    try {
      return await Dump.#read(path, onRows)
    } catch (error) {
      if (!(error instanceof CarillonError)) throw damaged(path, error)
      // Only the header was read. If it is damaged, the error must not say that another version wrote the file.
      const damage = await damageOf(path)
      throw damage === undefined ? error : damaged(path, damage)
    }
  }

  static async #read(path: string, onRows: (count: number) => void): Promise<Dump> {
    const hash = createHash('sha256')
    const digesting = new Digesting()
    const found: { header?: DumpHeader; footer?: Footer } = {}
    const batches = batchesIn(path, {
      onHeader(line) {
        found.header = headerFrom(line, path)
        hash.update(`${line}\n`)
      },
      onBody: (line) => hash.update(`${line}\n`),
      onFooter(line) {
        found.footer = JSON.parse(line)
      },
    })
    for await (const batch of batches) {
      digesting.add(batch)
      onRows(batch.rows.length)
    }
    const { header, footer } = found
    if (header === undefined || footer === undefined) throw new Error('it has no footer')
    const difference = differenceOf(footer.digests, digesting.end())
    if (difference !== undefined) throw new Error(difference)
    if (footer.sha256 !== hash.digest('hex')) throw new Error('its checksum differs')
    return new Dump(path, header, footer.digests)
  }

  async *batchesAfter(place: Place | null): AsyncGenerator<Batch> {
    const [reached, done] = place === null ? [-1, 0] : [indexOf(place.table), place.rows]
    let passed = 0
    for await (const { table, rows } of batchesIn(this.#path)) {
      const index = tables.indexOf(table)
      if (index < reached) continue
      const known = index === reached ? Math.max(0, done - passed) : 0
      if (index === reached) passed += rows.length
      if (known < rows.length) yield { table, rows: rows.slice(known) }
    }
  }

  async counts(): Promise<Counts> {
    return Object.fromEntries(this.digests.map(({ table, rows }) => [table, rows]))
  }
}

type Listeners = {
  onHeader?(line: string): void
  onBody?(line: string): void
  onFooter?(line: string): void
}

/** Throws if the lines are not in the right order, or end early. */
async function* batchesIn(path: string, { onHeader, onBody, onFooter }: Listeners = {}): AsyncGenerator<Batch> {
  const builder = new BatchBuilder()
  let section: 'header' | 'body' | 'end' = 'header'
  for await (const line of linesOf(path)) {
    if (section === 'header') {
      onHeader?.(line)
      section = 'body'
    } else if (section === 'end') {
      throw new Error('it has lines after its footer')
    } else if (line.startsWith(footerStart)) {
      onFooter?.(line)
      section = 'end'
    } else {
      onBody?.(line)
      const batch = builder.add(line)
      if (batch !== undefined) yield batch
    }
  }
  if (section !== 'end' || !builder.isComplete) throw new Error('its footer is missing')
  const last = builder.take()
  if (last !== undefined) yield last
}

class BatchBuilder {
  #named = 0
  #rows: Row[] = []

  get isComplete(): boolean {
    return this.#named === tables.length
  }

  /** Returns a batch if it is full or its table has ended. */
  add(line: string): Batch | undefined {
    if (line.startsWith('{')) {
      const earlier = this.take()
      const next = tables[this.#named++]
      if (next === undefined || objectLine(headOf(next)) !== `${line}\n`) throw new Error('it has other tables')
      return earlier
    }
    if (this.#named === 0) throw new Error('a row precedes its table')
    this.#rows.push(JSON.parse(line))
    return this.#rows.length < rowsInBatch ? undefined : this.take()
  }

  take(): Batch | undefined {
    const table = tables[this.#named - 1]
    if (table === undefined || this.#rows.length === 0) return undefined
    const rows = this.#rows
    this.#rows = []
    return { table, rows }
  }
}

/** Without node:readline, which also ends a line at U+2028 and other characters. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const text = createGunzip().setEncoding('utf8')
  // The loop below throws the error.
  pipeline(createReadStream(path), text).catch(() => {})
  let rest = ''
  for await (const chunk of text) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') throw new Error('its last line is truncated')
}

function headerFrom(line: string, path: string): DumpHeader {
  const header = JSON.parse(line) as DumpHeader
  if (header.format !== format) throw new Error('it is another kind of file')
  if (header.version === version && header.schema === newestMigration) return header
  throw new CarillonError(
    'UNPROCESSABLE',
    `${path} was written by another version of Carillon (schema ${header.schema}; this program has ${newestMigration})`,
    { remedy: 'Restore it with that version. If that is an older one, this program then migrates the database.' },
  )
}

/** The error that gzip finds by its own checksum and length (RFC 1952, section 2.3.1); undefined if there is none. */
async function damageOf(path: string): Promise<unknown> {
  try {
    await pipeline(createReadStream(path), createGunzip(), new Writable({ write: (_, __, done) => done() }))
    return undefined
  } catch (error) {
    return error
  }
}

function damaged(path: string, error: unknown): CarillonError {
  return new CarillonError('UNPROCESSABLE', `${path} is damaged or truncated (${messageOf(error)})`, {
    remedy: 'Nothing was restored; use another backup.',
    cause: error,
  })
}

function headOf(table: Table): { table: string; columns: string[] } {
  return { table: table.name, columns: columnsOf(table) }
}

function indexOf(table: string): number {
  return tables.findIndex(({ name }) => name === table)
}

function objectLine(value: object): string {
  return `${JSON.stringify(value)}\n`
}
