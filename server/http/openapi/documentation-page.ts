// The OpenAPI document as an HTML page: every route with its parameters, its responses and a curl command to copy.
type Schema = {
  type?: string
  enum?: readonly string[]
  const?: unknown
  description?: string
  properties?: Record<string, Schema>
  required?: readonly string[]
  items?: Schema
  anyOf?: readonly Schema[]
  contentSchema?: Schema
  $ref?: string
  [limit: string]: unknown
}
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema }
type Body = { content?: Record<string, { schema: Schema }> }
type Described = {
  summary: string
  security: readonly Record<string, unknown>[]
  parameters?: readonly Parameter[]
  requestBody?: Body
  responses: Record<string, Body & { description: string }>
}
type Document = {
  info: { title: string; version: string; summary: string }
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

export function documentationPage(openApi: object): string {
  const { info, paths, components } = openApi as Document
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
  )
  const list = routes.map(
    ({ method, path }) => `<li><a href="#${anchor(method, path)}"><b>${method}</b> ${text(path)}</a></li>`,
  )
  const shapes = Object.entries(components.schemas).map(
    ([name, schema]) => `<section id="${name}"><h3>${name}</h3>${shape(schema)}</section>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)} ${text(info.version)}: the API</title><link rel="stylesheet" href="/docs/style.css"></head>
<body><nav aria-label="Routes"><h1>${text(info.title)} <small>${text(info.version)}</small></h1>
<p>${text(info.summary)} <a href="/openapi.json">openapi.json</a></p><ul>${list.join('')}</ul>
<p><a href="#shapes">Shapes</a></p></nav>
<main>${routes.map(routeSection).join('')}<h2 id="shapes">Shapes</h2>${shapes.join('')}</main></body></html>`
}

function routeSection({ method, path, described }: { method: string; path: string; described: Described }): string {
  const { summary, security, parameters = [], requestBody, responses } = described
  const body = requestBody?.content?.['application/json']?.schema
  const rows = Object.entries(responses).map(([status, { description, content }]) => {
    const schema = content?.['application/json']?.schema
    const event = content?.['text/event-stream']?.schema?.contentSchema
    const type = schema ? typeOf(schema) : event ? `events: ${typeOf(event)}` : ''
    return `<tr><th scope="row">${status}</th><td>${type}</td><td>${text(description)}</td></tr>`
  })
  return `<section id="${anchor(method, path)}"><h2><b>${method}</b> ${text(path)}</h2><p>${text(summary)}</p>
<p class="who">${whoMayCall(security)}</p>${parameters.length > 0 ? fields(parameters.map(asField)) : ''}
${body ? `<h3>Body</h3>${shape(body)}` : ''}<h3>Responses</h3><table>${rows.join('')}</table>
<pre>${text(curl(method, path + requiredQuery(parameters), security, body))}</pre></section>`
}

function whoMayCall(security: readonly Record<string, unknown>[]): string {
  const names = security.flatMap((scheme) => Object.keys(scheme))
  if (names.length === 0) return 'Open to everyone'
  if (names.includes('producer')) return 'A producer with its key'
  return names.includes('session')
    ? 'A signed-in user: session cookie or access token'
    : 'A signed-in user: access token'
}

type Field = { name: string; type: string; isRequired: boolean; note: string }

function asField({ name, in: place, required = false, description, schema }: Parameter): Field {
  return { name: `${name} (${place})`, type: typeOf(schema), isRequired: required, note: description ?? noteOf(schema) }
}

function shape(schema: Schema): string {
  if (schema.properties === undefined) return `<p>${typeOf(schema)}</p>`
  const { properties, required = [] } = schema
  return fields(
    Object.entries(properties).map(([name, field]) => ({
      name,
      type: typeOf(field),
      isRequired: required.includes(name),
      note: noteOf(field),
    })),
  )
}

function fields(rows: readonly Field[]): string {
  const cells = rows.map(
    ({ name, type, isRequired, note }) =>
      `<tr><th scope="row">${text(name)}${isRequired ? '' : ' <i>optional</i>'}</th><td>${type}</td><td>${text(note)}</td></tr>`,
  )
  return `<table>${cells.join('')}</table>`
}

function noteOf({ description, minLength, maxLength, minimum, maximum, minItems, maxItems }: Schema): string {
  const range = (low: unknown, high: unknown, unit: string) =>
    low === undefined && high === undefined ? [] : [`${low ?? 0} to ${high ?? 'any number of'}${unit}`]
  return [
    ...(description === undefined ? [] : [description]),
    ...range(minLength, maxLength, ' characters'),
    ...range(minItems, maxItems, ' items'),
    ...(minimum === undefined ? [] : [maximum === undefined ? `from ${minimum}` : `${minimum} to ${maximum}`]),
  ].join('; ')
}

function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)
    return `<a href="#${name}">${name}</a>`
  }
  if (schema.enum !== undefined)
    return schema.enum.map((value) => `<code>${text(JSON.stringify(value))}</code>`).join(' or ')
  if (schema.const !== undefined) return `<code>${text(JSON.stringify(schema.const))}</code>`
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.type === 'array' && schema.items !== undefined) return `array of ${typeOf(schema.items)}`
  if (schema.type === 'object' && schema.properties !== undefined) return `object${shape(schema)}`
  return text(schema.type ?? 'anything')
}

function curl(method: string, path: string, security: readonly Record<string, unknown>[], body?: Schema): string {
  const names = security.flatMap((scheme) => Object.keys(scheme))
  const proof = names.includes('producer')
    ? ' -H @- <<< "authorization: Bearer $KEY"'
    : ' -H @- <<< "authorization: Bearer $TOKEN"'
  const data =
    body === undefined
      ? ''
      : ` -H 'content-type: application/json' -d '{${(body.required ?? []).map((name) => `"${name}":…`).join(',')}}'`
  return `curl${method === 'GET' ? '' : ` -X ${method}`} "$CARILLON${path}"${names.length === 0 ? '' : proof}${data}`
}

/** The query fields that the route requires. */
function requiredQuery(parameters: readonly Parameter[]): string {
  const needed = parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => `${name}=…`)
  return needed.length === 0 ? '' : `?${needed.join('&')}`
}

function anchor(method: string, path: string): string {
  return `${method}${path}`.replaceAll(/[^A-Za-z]+/g, '-')
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function text(value: string): string {
  return value.replaceAll(/[&<>"']/g, (character) => entities[character] as string)
}
