// The OpenAPI document as an HTML page: every route with its parameters, its responses and examples, and a curl command to copy.
import type { Described, Document, Parameter } from './openapi.ts'
import type { Schema } from './schema.ts'

/** Its links are relative, so that they work behind a proxy that strips a path. */
export function documentationPage({ info, tags, paths, components }: Document): string {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path, described })),
  )
  const groups = tags.map(({ name, description }) => ({
    name,
    description,
    routes: routes.filter(({ described }) => described.tags.includes(name as Described['tags'][number])),
  }))
  const shapes = Object.entries(components.schemas).map(
    ([name, schema]) => `<section id="${name}"><h3>${name}</h3>${shape(schema)}</section>`,
  )
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${text(info.title)} ${text(info.version)}: the API</title><meta name="description" content="${text(info.summary)}"><link rel="icon" href="carillon-logo"><link rel="stylesheet" href="docs/style.css"></head>
<body><nav aria-label="Routes"><h1>${text(info.title)} <small>${text(info.version)}</small></h1>
<p>${text(info.summary)} <a href="openapi.json">openapi.json</a> · <a href="./">front page</a></p>${groups.map(linksOf).join('')}
<p><a href="#shapes">Shapes</a></p></nav>
<main>${groups.map((group) => groupSection(group, components.schemas)).join('')}<h2 id="shapes">Shapes</h2>${shapes.join('')}</main></body></html>`
}

type ShownRoute = { method: string; path: string; described: Described }
type Group = { name: string; description: string; routes: readonly ShownRoute[] }

function linksOf({ name, routes }: Group): string {
  const links = routes.map(
    ({ method, path, described }) => `<li><a href="#${described.operationId}"><b>${method}</b> ${text(path)}</a></li>`,
  )
  return `<h2>${text(name)}</h2><ul>${links.join('')}</ul>`
}

type Schemas = Readonly<Record<string, Schema>>

function groupSection({ name, description, routes }: Group, schemas: Schemas): string {
  const sections = routes.map((route) => routeSection(route, schemas))
  return `<h2>${text(name)}</h2><p>${prose(description)}</p>${sections.join('')}`
}

function routeSection({ method, path, described }: ShownRoute, schemas: Schemas): string {
  const { operationId, summary, parameters = [], requestBody, responses } = described
  const proofs = described.security.flatMap((scheme) => Object.keys(scheme))
  const body = requestBody?.content['application/json']
  const rows = Object.entries(responses).map(([status, { description, content }]) => {
    const media = content?.['application/json']
    const event = content?.['text/event-stream']?.schema.contentSchema
    const type = media ? typeOf(media.schema) : event ? `events: ${typeOf(event)}` : ''
    const example = status < '3' ? exampleOf(media?.example) : ''
    return `<tr><th scope="row">${status}</th><td>${type}${example}</td><td>${prose(description)}</td></tr>`
  })
  const fields = parameters.map((field) => row({ ...field, name: `${field.name} (${field.in})` }))
  const needed = parameters.filter((one) => one.in === 'query' && one.required).map(({ name }) => `${name}=…`)
  const target = needed.length === 0 ? path : `${path}?${needed.join('&')}`
  return `<section id="${operationId}"><h3><b>${method}</b> ${text(path)} <small>${operationId}</small></h3>
<p>${prose(summary)}</p><p class="who">${whoMayCall(described.security)}</p>${fields.length > 0 ? `<table>${fields.join('')}</table>` : ''}
${body ? `<h4>Body: ${typeOf(body.schema)}</h4>${shape(schemas[nameOf(body.schema) ?? ''] ?? body.schema)}` : ''}<h4>Responses</h4><table>${rows.join('')}</table>
<pre>${text(curl(method, target, { proofs, example: body?.example }))}</pre></section>`
}

function exampleOf(value: unknown): string {
  if (value === undefined) return ''
  return `<details><summary>Example</summary><pre>${text(JSON.stringify(value, null, 2))}</pre></details>`
}

function whoMayCall(security: readonly object[]): string {
  const proofs = security.flatMap((scheme) => Object.keys(scheme))
  if (proofs.length === 0) return 'Open to everyone'
  if (proofs.includes('producer')) return 'A producer with its key'
  const kinds = proofs.includes('session') ? 'session cookie or access token' : 'access token'
  const isOptional = security.some((scheme) => Object.keys(scheme).length === 0)
  return isOptional ? `Open to everyone, with or without a ${kinds}` : `A signed-in user: ${kinds}`
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
  return `<tr><th scope="row">${text(name)}${optional}</th><td>${typeOf(schema)}</td><td>${prose(description)}</td></tr>`
}

function noteOf({ description, minLength, maxLength, minimum, maximum, minItems, maxItems }: Schema): string {
  const range = (low: unknown, high: unknown, unit: string) =>
    low === undefined && high === undefined ? undefined : `${low ?? 0} to ${high ?? 'any number of'}${unit}`
  const values = maximum === undefined ? `from ${minimum}` : `${minimum} to ${maximum}`
  const notes = [description, range(minLength, maxLength, ' characters'), range(minItems, maxItems, ' items')]
  return [...notes, minimum === undefined ? undefined : values].filter((note) => note !== undefined).join('; ')
}

function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}

function typeOf(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== undefined) return `<a href="#${name}">${name}</a>`
  const values = 'const' in schema ? [schema.const] : schema.enum
  if (values !== undefined) return values.map((value) => `<code>${text(JSON.stringify(value))}</code>`).join(' or ')
  const variants = schema.anyOf ?? schema.oneOf
  if (variants !== undefined) return variants.map(typeOf).join(' or ')
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`
  if (schema.properties !== undefined) return `object${shape(schema)}`
  return text([schema.type ?? 'anything'].flat().join(' or '))
}

type Call = { proofs: readonly string[]; example: unknown }

function curl(method: string, target: string, { proofs, example }: Call): string {
  const name = proofs.includes('producer') ? 'KEY' : 'TOKEN'
  const proof = proofs.length === 0 ? '' : ` -H @- <<< "authorization: Bearer $${name}"`
  const sent = JSON.stringify(example)?.replaceAll("'", "'\\''")
  const data = sent === undefined ? '' : ` -H 'content-type: application/json' -d '${sent}'`
  return `curl${method === 'GET' ? '' : ` -X ${method}`} "$CARILLON${target}"${proof}${data}`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function text(value: string): string {
  return value.replaceAll(/[&<>"']/g, (character) => entities[character] as string)
}

/** Descriptions are Markdown (OpenAPI 3.1, section 3.5); backticks are all that these use of it. */
function prose(value: string): string {
  return text(value).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}
