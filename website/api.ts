// The pages of the API, from the same description as GET /openapi.json: one for each group of routes, and one with the shapes.
import { type Described, openApi, type Parameter } from '../server/http/openapi/openapi.ts'
import type { Schema } from '../server/http/openapi/schema.ts'
import {
  commonErrors,
  curl,
  nameOf,
  noteOf,
  whoMayCall,
  withQuery,
} from '../server/pages/docs/documentation-page.ts'
import { routesWith } from '../server/routes.ts'
import { type Item, type Page, pageOf, titleOf } from './pages.ts'

type Schemas = Readonly<Record<string, Schema>>

/** The first page lists all routes. `version`: of Carillon. */
export function apiPages(version: string): Page[] {
  const { tags, paths, components } = openApi(routesWith(''), {
    version,
    url: 'https://carillon.example',
    cookieName: '__Host-carillon',
  })
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      route: `${method.toUpperCase()} ${path}`,
      described,
    })),
  )
  const groups = tags.map(({ name, description }) => {
    const own = routes.filter(({ described }) => (described.tags as string[]).includes(name))
    return { name, description, routes: own }
  })
  const lists = groups.map(({ name, description, routes: own }) => {
    const links = own.map(
      ({ route, described }) =>
        `- [\`${route}\`](${name}.md#${anchorOf(route)}): ${described.summary}`,
    )
    return `## [${titled(name)}](${name}.md)\n\n${description}.\n\n${links.join('\n')}\n`
  })
  const pages = groups.map(({ name, description, routes: own }) => {
    const sections = own.map(({ route, described }) =>
      section(route, described, components.schemas),
    )
    return pageOf(
      `api/${name}.md`,
      `# ${titled(name)}\n\n${description}.\n\n${sections.join('\n')}`,
    )
  })
  const shapes = Object.entries(components.schemas).map(
    ([name, schema]) => `## ${name}\n\n${fieldsOf(schema)}\n`,
  )
  return [
    pageOf(
      'api/README.md',
      `# Routes\n\nFor developers: every route of Carillon ${version}. \`GET /docs\` of a running service displays the same, and \`GET /openapi.json\` is the description for programs.\n\n${lists.join('\n')}`,
    ),
    ...pages,
    pageOf(
      'api/shapes.md',
      `# Shapes\n\nThe objects that requests and responses consist of.\n\n${shapes.join('\n')}`,
    ),
  ]
}

export function apiItem(pages: readonly Page[]): Item {
  const items = pages.map((page) => ({
    text: titleOf(page),
    link: `/${page.path.replace(/\.md$/, '.html')}`,
  }))
  return { text: 'API', items }
}

function section(
  route: string,
  { summary, security, parameters = [], requestBody, responses }: Described,
  schemas: Schemas,
): string {
  const proofs = security.flatMap((scheme) => Object.keys(scheme))
  const body = requestBody?.content['application/json']
  const [method = '', path = ''] = route.split(' ')
  const fields = parameters.map((one) => fieldRow({ ...one, name: `${one.name} (${one.in})` }))
  const all = Object.entries(responses)
  const own = all.filter(([, { description }]) => !commonErrors.test(description))
  const others = all
    .filter(([status, { description }]) => commonErrors.test(description) && status !== 'default')
    .map(([status]) => status)
  const example = own.find(
    ([status, { content }]) => status < '3' && content?.['application/json']?.example,
  )
  const printed = example?.[1].content?.['application/json']?.example
  return [
    `## ${route}`,
    `${prose(summary)}. ${whoMayCall(security, proofs)}.`,
    fields.length > 0 && table(['parameter', 'type', 'meaning'], fields),
    body && `Body: ${typeOf(body.schema)}`,
    body && fieldsOf(schemas[nameOf(body.schema) ?? ''] ?? body.schema),
    table(
      ['status', 'body', 'meaning'],
      own.map(([status, { description, content }]) => [
        status,
        content?.['application/json']
          ? typeOf(content['application/json'].schema)
          : Object.keys(content ?? {}).join(', '),
        prose(description),
      ]),
    ),
    others.length > 0 && `Also, as most routes: ${others.join(', ')}.`,
    fence('sh', curl(method, withQuery(path, parameters), { proofs, example: body?.example })),
    printed !== undefined && fence('json', JSON.stringify(printed, null, 2)),
  ]
    .filter((part) => typeof part === 'string')
    .join('\n\n')
    .concat('\n')
}

function fieldsOf(schema: Schema): string {
  const { properties, required = [] } = schema
  if (properties === undefined) return typeOf(schema)
  const rows = Object.entries(properties).map(([name, one]) =>
    fieldRow({ name, required: required.includes(name), schema: one }),
  )
  return table(['field', 'type', 'meaning'], rows)
}

function fieldRow({
  name,
  required,
  schema,
  description = noteOf(schema),
}: Omit<Parameter, 'in'>): string[] {
  return [`\`${name}\`${required ? '' : ', optional'}`, typeOf(schema), prose(description)]
}

function typeOf(schema: Schema): string {
  const name = nameOf(schema)
  if (name !== undefined) return `[${name}](shapes.md#${name.toLowerCase()})`
  const values = 'const' in schema ? [schema.const] : schema.enum
  if (values !== undefined)
    return values.map((value) => `\`${JSON.stringify(value)}\``).join(' or ')
  const variants = schema.anyOf ?? schema.oneOf
  if (variants !== undefined) return variants.map(typeOf).join(' or ')
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`
  if (schema.properties !== undefined) {
    const members = Object.entries(schema.properties).map(
      ([member, one]) => `\`${member}\` ${typeOf(one)}`,
    )
    return `object of ${members.join(', ')}`
  }
  return [schema.type ?? 'anything'].flat().join(' or ')
}

function table(heads: readonly string[], rows: readonly string[][]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(line)].join('\n')
}

function fence(language: string, code: string): string {
  return `\`\`\`${language}\n${code}\n\`\`\``
}

/** Markdown with code in backticks and no other marks. */
function prose(text: string): string {
  return text
    .split('`')
    .map((part, at) => (at % 2 === 1 ? `\`${part}\`` : part.replaceAll('<', '&lt;')))
    .join('')
}

function titled(tag: string): string {
  return tag.charAt(0).toUpperCase() + tag.slice(1)
}

/** As GitHub writes the anchor of a heading (.vitepress/config.js). */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}
