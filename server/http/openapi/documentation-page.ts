// The OpenAPI document as an HTML page: every route with its parameters, its responses and a curl command to copy.
import type { Described, Document, Parameter } from './openapi.ts'
import type { Schema } from './schema.ts'

/** Its links are relative, so that they work behind a proxy that strips a path. */
export function documentationPage({ info, paths, components }: Document): string {
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
<title>${text(info.title)} ${text(info.version)}: the API</title><link rel="stylesheet" href="docs/style.css"></head>
<body><nav aria-label="Routes"><h1>${text(info.title)} <small>${text(info.version)}</small></h1>
<p>${text(info.summary)} <a href="openapi.json">openapi.json</a></p><ul>${list.join('')}</ul>
<p><a href="#shapes">Shapes</a></p></nav>
<main>${routes.map(routeSection).join('')}<h2 id="shapes">Shapes</h2>${shapes.join('')}</main></body></html>`
}

function routeSection({ method, path, described }: { method: string; path: string; described: Described }): string {
  const { summary, parameters = [], requestBody, responses } = described
  const proofs = described.security.flatMap((scheme) => Object.keys(scheme))
  const body = requestBody?.content['application/json']?.schema
  const rows = Object.entries(responses).map(([status, { description, content }]) => {
    const schema = content?.['application/json']?.schema
    const event = content?.['text/event-stream']?.schema.contentSchema
    const type = schema ? typeOf(schema) : event ? `events: ${typeOf(event)}` : ''
    return `<tr><th scope="row">${status}</th><td>${type}</td><td>${text(description)}</td></tr>`
  })
  const fields = parameters.map((field) => row({ ...field, name: `${field.name} (${field.in})` }))
  const needed = parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => `${name}=…`)
  const target = needed.length === 0 ? path : `${path}?${needed.join('&')}`
  return `<section id="${anchor(method, path)}"><h2><b>${method}</b> ${text(path)}</h2><p>${text(summary)}</p>
<p class="who">${whoMayCall(proofs)}</p>${fields.length > 0 ? `<table>${fields.join('')}</table>` : ''}
${body ? `<h3>Body</h3>${shape(body)}` : ''}<h3>Responses</h3><table>${rows.join('')}</table>
<pre>${text(curl(method, target, { proofs, body }))}</pre></section>`
}

function whoMayCall(proofs: readonly string[]): string {
  if (proofs.length === 0) return 'Open to everyone'
  if (proofs.includes('producer')) return 'A producer with its key'
  return `A signed-in user: ${proofs.includes('session') ? 'session cookie or access token' : 'access token'}`
}

function shape(schema: Schema): string {
  const { properties, required } = schema
  if (properties === undefined) return `<p>${typeOf(schema)}</p>`
  const rows = Object.entries(properties).map(([name, field]) => {
    return row({ name, required: required?.includes(name) === true, schema: field })
  })
  return `<table>${rows.join('')}</table>`
}

function row({ name, required, schema, description = noteOf(schema) }: Omit<Parameter, 'in'>): string {
  const optional = required ? '' : ' <i>optional</i>'
  return `<tr><th scope="row">${text(name)}${optional}</th><td>${typeOf(schema)}</td><td>${text(description)}</td></tr>`
}

function noteOf({ description, minLength, maxLength, minimum, maximum, minItems, maxItems }: Schema): string {
  const range = (low: unknown, high: unknown, unit: string) =>
    low === undefined && high === undefined ? undefined : `${low ?? 0} to ${high ?? 'any number of'}${unit}`
  const values = maximum === undefined ? `from ${minimum}` : `${minimum} to ${maximum}`
  const notes = [description, range(minLength, maxLength, ' characters'), range(minItems, maxItems, ' items')]
  return [...notes, minimum === undefined ? undefined : values].filter((note) => note !== undefined).join('; ')
}

function typeOf(schema: Schema): string {
  const name = schema.$ref?.split('/').at(-1)
  if (name !== undefined) return `<a href="#${name}">${name}</a>`
  const values = 'const' in schema ? [schema.const] : schema.enum
  if (values !== undefined) return values.map((value) => `<code>${text(JSON.stringify(value))}</code>`).join(' or ')
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ')
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`
  if (schema.properties !== undefined) return `object${shape(schema)}`
  return text([schema.type ?? 'anything'].flat().join(' or '))
}

type Call = { proofs: readonly string[]; body: Schema | undefined }

function curl(method: string, target: string, { proofs, body }: Call): string {
  const name = proofs.includes('producer') ? 'KEY' : 'TOKEN'
  const proof = proofs.length === 0 ? '' : ` -H @- <<< "authorization: Bearer $${name}"`
  const fields = body?.required?.map((field) => `"${field}":…`).join(',')
  const data = body === undefined ? '' : ` -H 'content-type: application/json' -d '{${fields}}'`
  return `curl${method === 'GET' ? '' : ` -X ${method}`} "$CARILLON${target}"${proof}${data}`
}

function anchor(method: string, path: string): string {
  return `${method}${path}`.replaceAll(/[^A-Za-z]+/g, '-')
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function text(value: string): string {
  return value.replaceAll(/[&<>"']/g, (character) => entities[character] as string)
}
