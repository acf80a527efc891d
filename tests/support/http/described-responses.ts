// Every response that a test of the HTTP suite gets is as the published description says. For
// `npm test`, which requires that each described response was sent, it notes what it has seen.
import { appendFileSync, readFileSync } from 'node:fs'
import { openApi } from '../../../server/http/openapi/openapi.ts'
import { routesWith } from '../../../server/routes.ts'
import { type Described, DescribedApi, type Document } from './described-api.ts'

/** tools/steps.ts names the file of the notes by it: one a line. */
export const notesFile = 'TEST_SEEN_RESPONSES'

type Received = { status: number; headers: Headers; text: string }

let published: DescribedApi | undefined
/** What this process has seen, such as `GET /api/me 401 UNAUTHORIZED`. */
export const seenResponses = new Set<string>()

export function publishedApi(): DescribedApi {
  if (published !== undefined) return published
  const place = { version: '0.0.0', url: 'http://127.0.0.1', cookieName: 'carillon' }
  const document = JSON.parse(JSON.stringify(openApi(routesWith(''), place))) as Document
  published = new DescribedApi(document)
  return published
}

/** Throws unless the description has this response. A path that it does not have is refused. */
export function isAsDescribed(method: string, path: string, response: Received): void {
  const api = publishedApi()
  const described = api.find(method, path)
  const isPage = response.headers.get('content-type')?.startsWith('text/html') === true
  // A browser gets a page in place of the JSON of a refusal.
  if (described === undefined || (isPage && response.status >= 400)) return
  const listed = api.promises(described, response)
  const isRefusal = response.status >= 400 && response.text.startsWith('{')
  const code = isRefusal ? ` ${JSON.parse(response.text).error.code}` : ''
  const note = `${nameOf(described)} ${listed}${code}`
  if (seenResponses.has(note)) return
  seenResponses.add(note)
  const file = process.env[notesFile]
  if (file !== undefined) appendFileSync(file, `${note}\n`)
}

/** Described responses that no test of any noting process got. */
export function unseenResponses(): string[] {
  const api = publishedApi()
  const seen = new Set(readFileSync(process.env[notesFile] ?? '', 'utf8').split('\n'))
  return api.operations.flatMap((described) =>
    Object.entries(described.operation.responses)
      .flatMap(([status, response]) => {
        if (status === 'default') return []
        if (Number(status) < 400) return [status]
        return api.codesOf(response).map((code) => `${status} ${code}`)
      })
      .map((listed) => `${nameOf(described)} ${listed}`)
      .filter((listed) => !seen.has(listed)),
  )
}

const nameOf = ({ method, template }: Described): string => `${method} ${template}`
