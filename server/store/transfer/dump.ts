// The portable form of a backup: gzip-compressed lines of JSON. A header; for each table a line that names its columns,
// then its rows as arrays; at the end a footer with the count and the hash of each table, and of all that stands before
// it. It restores into any engine, and `gunzip` shows it to people.
import { createHash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { CarillonError, messageOf } from '../../errors.ts'
import { type Digest, Digesting, differenceOf, lineOf } from './digest.ts'
import {
  type Batch,
  type Counts,
  type Engine,
  type Place,
  type Row,
  rowsInBatch,
  type Source,
} from './endpoint/endpoint.ts'
import { type Table, tables } from './endpoint/tables.ts'
import { columnsAt, upgraded } from './older-rows.ts'

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

/** Writes all rows to the empty file at `path`, and answers what was written. */
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
      const names = tables.slice(named, last + 1).map((table) => objectLine(headOf(table, about.schema)))
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
  // It is there; one that was removed meanwhile is not made again.
  await pipeline(lines, createGzip(), createWriteStream(path, { flags: 'r+' }))
  return digests
}

/** A portable backup that was read from end to end and found whole. Its rows are those of this program's schema. */
export class Dump implements Source {
  readonly header: DumpHeader
  /** Of the rows as they are given. */
  readonly digests: readonly Digest[]
  readonly #path: string

  private constructor(path: string, header: DumpHeader, digests: readonly Digest[]) {
    this.#path = path
    this.header = header
    this.digests = digests
  }

  /** Throws UNPROCESSABLE with a sentence where it is cut off, changed or from a newer Carillon. */
  static async open(
    path: string,
    { known, onRows = () => {} }: { known: readonly string[]; onRows?: (count: number) => void },
  ): Promise<Dump> {
    try {
      return await Dump.#read(path, { known, onRows })
    } catch (error) {
      if (!(error instanceof CarillonError)) throw damaged(path, error)
      // The header alone was read: damage there must not pass for another version.
      const damage = await damageOf(path)
      throw damage === undefined ? error : damaged(path, damage)
    }
  }

  static async #read(
    path: string,
    { known, onRows }: { known: readonly string[]; onRows: (count: number) => void },
  ): Promise<Dump> {
    const hash = createHash('sha256')
    const [digesting, upgradedDigesting] = [new Digesting(), new Digesting()]
    const found: { header?: DumpHeader; footer?: Footer } = {}
    const batches = batchesIn(path, {
      onHeader(line) {
        found.header = headerFrom(line, { path, known })
        hash.update(`${line}\n`)
        return found.header.schema
      },
      onBody: (line) => hash.update(`${line}\n`),
      onFooter(line) {
        found.footer = JSON.parse(line)
      },
    })
    const isOlder = () => found.header?.schema !== known.at(-1)
    for await (const batch of batches) {
      digesting.add(batch)
      if (isOlder()) upgradedDigesting.add({ ...batch, rows: upgraded(batch, found.header?.schema ?? '') })
      onRows(batch.rows.length)
    }
    const { header, footer } = found
    if (header === undefined || footer === undefined) throw new Error('it has no end')
    const difference = differenceOf(footer.digests, digesting.end())
    if (difference !== undefined) throw new Error(difference)
    if (footer.sha256 !== hash.digest('hex')) throw new Error('its checksum is another')
    return new Dump(path, header, isOlder() ? upgradedDigesting.end() : footer.digests)
  }

  async *batchesAfter(place: Place | null): AsyncGenerator<Batch> {
    const [reached, done] = place === null ? [-1, 0] : [indexOf(place.table), place.rows]
    let passed = 0
    const { schema } = this.header
    for await (const { table, rows: found } of batchesIn(this.#path, { onHeader: () => schema })) {
      const index = tables.indexOf(table)
      const rows = upgraded({ table, rows: found }, schema)
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
  /** Answers the schema. */ onHeader(line: string): string
  onBody?(line: string): void
  onFooter?(line: string): void
}

/** Throws where the lines do not come in the order of the form, or end early. */
async function* batchesIn(path: string, { onHeader, onBody, onFooter }: Listeners): AsyncGenerator<Batch> {
  let gathering = new Gathering('')
  let part: 'header' | 'body' | 'end' = 'header'
  for await (const line of linesOf(path)) {
    if (part === 'header') {
      gathering = new Gathering(onHeader(line))
      part = 'body'
    } else if (part === 'end') {
      throw new Error('something follows its end')
    } else if (line.startsWith(footerStart)) {
      onFooter?.(line)
      part = 'end'
    } else {
      onBody?.(line)
      const batch = gathering.add(line)
      if (batch !== undefined) yield batch
    }
  }
  if (part !== 'end' || !gathering.isComplete) throw new Error('its end is missing')
  const last = gathering.take()
  if (last !== undefined) yield last
}

/** Puts rows together to batches. */
class Gathering {
  readonly #schema: string
  #named = 0
  #rows: Row[] = []

  constructor(schema: string) {
    this.#schema = schema
  }

  get isComplete(): boolean {
    return this.#named === tables.length
  }

  /** A batch that is full, or whose table is at its end. */
  add(line: string): Batch | undefined {
    if (line.startsWith('{')) {
      const earlier = this.take()
      const next = tables[this.#named++]
      if (next === undefined || objectLine(headOf(next, this.#schema)) !== `${line}\n`)
        throw new Error('its tables are others')
      return earlier
    }
    if (this.#named === 0) throw new Error('a row stands before its table')
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

/** Not by node:readline, for which more than a line feed ends a line. */
async function* linesOf(path: string): AsyncGenerator<string> {
  const text = createGunzip().setEncoding('utf8')
  // What goes wrong is thrown to whoever reads the text.
  pipeline(createReadStream(path), text).catch(() => {})
  let begun = ''
  for await (const chunk of text) {
    const lines = (begun + chunk).split('\n')
    begun = lines.pop() ?? ''
    yield* lines
  }
  if (begun !== '') throw new Error('its last line is cut off')
}

function headerFrom(line: string, { path, known }: { path: string; known: readonly string[] }): DumpHeader {
  const header = JSON.parse(line) as DumpHeader
  if (header.format !== format) throw new Error('it is in another form')
  if (header.version === version && known.includes(header.schema)) return header
  throw new CarillonError('UNPROCESSABLE', `${path} was made by a newer Carillon (schema ${header.schema})`, {
    remedy: 'Restore it with that version or a later one.',
  })
}

/** What gzip finds wrong with the file, by its own checksum and length (RFC 1952, section 2.3.1); undefined if nothing. */
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

function headOf(table: Table, schema: string): { table: string; columns: string[] } {
  return { table: table.name, columns: columnsAt(table, schema) }
}

function indexOf(table: string): number {
  return tables.findIndex(({ name }) => name === table)
}

function objectLine(value: object): string {
  return `${JSON.stringify(value)}\n`
}
