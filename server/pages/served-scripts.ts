// Serves the pages' files from element/build.js (docs/decisions/0038-served-scripts.md). A name is
// looked up, and never becomes a path.
import { readFileSync } from 'node:fs'
import { noSuchRoute, unavailable } from '../basics/errors.ts'
import type { EncodedFile, Encoding } from '../http/response/send.ts'

type Built = {
  manifest: Readonly<Record<string, readonly string[]>>
  files: ReadonlyMap<string, readonly EncodedFile[]>
  imports: ReadonlyMap<string, readonly string[]>
}

/** The first that a client accepts is the smallest. */
const endings = { br: '.br', gzip: '.gz', identity: '' } as const

export class ServedScripts {
  readonly #folder: URL
  #built: Built | undefined

  constructor(folder = new URL('../public/', import.meta.url)) {
    this.#folder = folder
  }

  hashed(entry: string): string {
    return this.#load().manifest[entry]?.[0] ?? refuseUnbuilt()
  }

  preloads(entries: readonly string[]): string[] {
    const needed = new Set(entries.map((entry) => this.hashed(entry)))
    const { size } = needed
    for (const name of needed)
      for (const next of this.#load().imports.get(name) ?? []) needed.add(next)
    return [...needed].slice(size)
  }

  file(name: string): readonly EncodedFile[] {
    const encodings = this.#load().files.get(name)
    if (encodings === undefined) throw noSuchRoute()
    return encodings
  }

  entryOf(name: string): string | undefined {
    const { manifest, files } = this.#load()
    if (files.has(name)) return undefined
    const [, stem, ending] = /^(.+)-[\da-f]{8}(\.\w+)$/.exec(name) ?? []
    return Object.keys(manifest).find((entry) => entry === `${stem}${ending}`)
  }

  #load(): Built {
    if (this.#built !== undefined) return this.#built
    try {
      const manifest = JSON.parse(
        readFileSync(new URL('manifest.json', this.#folder), 'utf8'),
      ) as Built['manifest']
      const names = [...new Set(Object.values(manifest).flat())]
      const files = new Map(names.map((name) => [name, this.#encodingsOf(name)]))
      this.#built = {
        manifest,
        files,
        imports: new Map(names.map((name) => [name, importsOf(files.get(name))])),
      }
      return this.#built
    } catch (error) {
      return refuseUnbuilt(error)
    }
  }

  #encodingsOf(name: string): EncodedFile[] {
    return Object.entries(endings).map(([encoding, ending]) => {
      const file = `${name}${ending}`
      return {
        bytes: readFileSync(new URL(file, this.#folder)),
        etag: `"${file}"`,
        encoding: encoding as Encoding,
      }
    })
  }
}

/** Imports on demand have a bracket. */
function importsOf(files: readonly EncodedFile[] = []): string[] {
  const found = String(files.at(-1)?.bytes).matchAll(/\b(?:from|import)\s*"\.\/([\w-]+\.js)"/g)
  return Array.from(found, ([, name = '']) => name)
}

function refuseUnbuilt(cause?: unknown): never {
  throw unavailable(
    'The scripts for pages are not built',
    'Build them in the checkout of the service: npm run build',
    cause,
  )
}
