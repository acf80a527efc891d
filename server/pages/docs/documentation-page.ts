import type { Described, Document, Parameter } from '../../http/openapi/openapi.ts'
import type { Schema } from '../../http/openapi/schema.ts'
import { type Html, html } from '../html.ts'

type Words = Readonly<
  Record<'title' | 'intro' | 'filter' | 'noMatch' | 'copy' | 'copied' | 'notCopied', string>
>

/** Links are relative, for proxies that strip a path. */
export function documentationPage({ info, tags, paths, components }: Document, words: Words): Html {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      method: method.toUpperCase(),
      path,
      described,
    })),
  )
  const groups = tags.map((tag) => ({
    ...tag,
    routes: routes.filter(({ described }) => described.tags.some((name) => name === tag.name)),
  }))
  const shapes = Object.entries(components.schemas).map(
    ([name, schema]) => html`<section id="${name}"><h3>${name}</h3>${shape(schema)}</section>`,
  )
  const { title, intro, filter, noMatch, copy, copied, notCopied } = words
  return html`<h1>${title} <small>${info.title} ${info.version}</small></h1>
<p>${intro} <a href="openapi.json">openapi.json</a></p>
<div class="docs" data-copy="${copy}" data-copied="${copied}" data-not-copied="${notCopied}" data-no-match="${noMatch}">
<nav aria-label="${title}"><div class="field" hidden><label for="routes-filter">${filter}</label><input type="search" id="routes-filter"></div><p role="status"></p>${groups.map(linksOf)}
<p><a href="#shapes">Shapes</a></p></nav>
<div lang="en">${groups.map((group) => groupSection(group, components.schemas))}<h2 id="shapes">Shapes</h2>${shapes}</div></div>`
}

type ShownRoute = { method: string; path: string; described: Described }
type Group = { name: string; description: string; routes: readonly ShownRoute[] }

function linksOf({ name, routes }: Group): Html {
  const links = routes.map(
    ({ method, path, described }) =>
      html`<li><a href="#${described.operationId}"><b>${method}</b> ${path}</a></li>`,
  )
  return html`<div class="group"><h2>${name}</h2><ul>${links}</ul></div>`
}

type Schemas = Readonly<Record<string, Schema>>

function groupSection({ name, description, routes }: Group, schemas: Schemas): Html {
  const sections = routes.map((route) => routeSection(route, schemas))
  return html`<div class="group"><h2>${name}</h2><p>${prose(description)}</p>${sections}</div>`
}

export const commonErrors =
  /^(A refusal that any route|((INVALID_REQUEST|UNAUTHORIZED|FORBIDDEN|PAYLOAD_TOO_LARGE|UNSUPPORTED_MEDIA_TYPE|MISDIRECTED_REQUEST|UNAVAILABLE)( or |$))+$)/

function routeSection({ method, path, described }: ShownRoute, schemas: Schemas): Html {
  const { operationId, summary, parameters = [], requestBody, responses } = described
  const proofs = described.security.flatMap((scheme) => Object.keys(scheme))
  const body = requestBody?.content['application/json']
  const [own = [], common = []] = [false, true].map((isCommon) =>
    Object.entries(responses).flatMap(([status, { description, content }]) => {
      if (commonErrors.test(description) !== isCommon) return []
      const media = content?.['application/json']
      const event = content?.['text/event-stream']?.schema.contentSchema
      const type = media ? typeOf(media.schema) : event && html`events: ${typeOf(event)}`
      const text = status < '3' && JSON.stringify(media?.example, null, 2)
      const example = text && html`<details><summary>Example</summary><pre>${text}</pre></details>`
      return html`<tr><th scope="row">${status}</th><td>${type}${example}</td><td>${prose(description)}</td></tr>`
    }),
  )
  const fields = parameters.map((field) => row({ ...field, name: `${field.name} (${field.in})` }))
  const target = withQuery(path, parameters)
  return html`<section id="${operationId}"><h3><b>${method}</b> ${path} <small>${operationId}</small></h3>
<p>${prose(summary)}</p><p class="who">${whoMayCall(described.security, proofs)}</p>${fields.length > 0 && html`<table>${fields}</table>`}
${body && html`<h4>Body: ${typeOf(body.schema)}</h4>${shape(schemas[nameOf(body.schema) ?? ''] ?? body.schema)}`}<h4>Responses</h4><table>${own}</table>
<details><summary>Common errors</summary><table>${common}</table></details>
<pre>${curl(method, target, { proofs, example: body?.example })}</pre></section>`
}

export function withQuery(path: string, parameters: readonly Parameter[]): string {
  const needed = parameters
    .filter((one) => one.in === 'query' && one.required)
    .map(({ name }) => `${name}=…`)
  return needed.length === 0 ? path : `${path}?${needed.join('&')}`
}

export function whoMayCall(security: readonly object[], proofs: readonly string[]): string {
  if (proofs.length === 0) return 'Open to everyone'
  if (proofs.includes('producer')) return 'A producer with its key'
  const kinds = proofs.includes('session') ? 'session cookie or access token' : 'access token'
  const isOptional = security.some((scheme) => Object.keys(scheme).length === 0)
  return isOptional ? `Open to everyone, with or without a ${kinds}` : `A signed-in user: ${kinds}`
}

function shape(schema: Schema): Html {
  const { properties, required = [] } = schema
  if (properties === undefined) return html`<p>${typeOf(schema)}</p>`
  const fields = Object.entries(properties)
  return html`<table>${fields.map(([name, one]) => row({ name, required: required.includes(name), schema: one }))}</table>`
}

function row({
  name,
  required,
  schema,
  description = noteOf(schema),
}: Omit<Parameter, 'in'>): Html {
  const optional = !required && html` <i>optional</i>`
  return html`<tr><th scope="row">${name}${optional}</th><td>${typeOf(schema)}</td><td>${prose(description)}</td></tr>`
}

export function noteOf({
  description,
  minLength,
  maxLength,
  minimum,
  maximum,
  minItems,
  maxItems,
}: Schema): string {
  const range = (low: unknown, high: unknown, unit: string) =>
    low === undefined && high === undefined
      ? undefined
      : `${low ?? 0} to ${high ?? 'any number of'}${unit}`
  const values = maximum === undefined ? `from ${minimum}` : `${minimum} to ${maximum}`
  const notes = [
    description,
    range(minLength, maxLength, ' characters'),
    range(minItems, maxItems, ' items'),
  ]
  return [...notes, minimum === undefined ? undefined : values]
    .filter((note) => note !== undefined)
    .join('; ')
}

export function nameOf({ $ref }: Schema): string | undefined {
  return $ref?.split('/').at(-1)
}

function typeOf(schema: Schema): Html {
  const name = nameOf(schema)
  if (name !== undefined) return html`<a href="#${name}">${name}</a>`
  const values = 'const' in schema ? [schema.const] : schema.enum
  if (values !== undefined)
    return alternatives(values.map((value) => html`<code>${JSON.stringify(value)}</code>`))
  const variants = schema.anyOf ?? schema.oneOf
  if (variants !== undefined) return alternatives(variants.map(typeOf))
  if (schema.items !== undefined) return html`array of ${typeOf(schema.items)}`
  if (schema.properties !== undefined) return html`object${shape(schema)}`
  return html`${[schema.type ?? 'anything'].flat().join(' or ')}`
}

function alternatives(all: readonly Html[]): Html {
  return html`${all.map((one, at) => (at === 0 ? one : html` or ${one}`))}`
}

export function curl(
  method: string,
  target: string,
  { proofs, example }: { proofs: string[]; example: unknown },
): string {
  const name = proofs.includes('producer') ? 'KEY' : 'TOKEN'
  const proof = proofs.length === 0 ? '' : ` -H @- <<< "authorization: Bearer $${name}"`
  const sent = JSON.stringify(example)?.replaceAll("'", "'\\''")
  const data = sent === undefined ? '' : ` -H 'content-type: application/json' -d '${sent}'`
  return `curl${method === 'GET' ? '' : ` -X ${method}`} "$CARILLON${target}"${proof}${data}`
}

/** Of Markdown, the texts use only backticks. */
function prose(value: string): Html {
  return html`${value.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`
}
