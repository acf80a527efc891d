import type { Exchange } from '../../server/api.ts'
import { cookieSentBy, fieldOf } from './proof-parts.ts'

type CurlPlace = { address: string; cookieName: string }

/**
 * Every user of the machine can see arguments, so all goes through the standard input.
 * `cookieName`: the only cookie of the command.
 */
export function curlOf(exchange: Exchange, { address, cookieName }: CurlPlace): string {
  const { line, body } = exchange.request
  const visible = ['carillon-visit', 'content-type', 'authorization']
  const fields = visible.map((name) => [name, fieldOf(exchange, name)])
  const headers = [...fields, ['cookie', cookieSentBy(exchange, cookieName)]]
    .filter(([, value]) => value !== undefined)
    .map((field) => `header = ${quoted(field.join(': '))}`)
  const lines = [`request = ${line.split(' ')[0]}`, `url = ${quoted(address)}`, ...headers]
  if (body !== '') lines.push(`data = ${quoted(body)}`)
  return ["curl -si -K - <<'END'", ...lines, 'END'].join('\n')
}

/** `base`: relative to the page. */
export function addressOf({ request }: Exchange, page: string, base: string): string {
  const path = request.line.split(' ')[1] ?? ''
  return new URL(base + path.replace(/^.*?\/demonstration\//, ''), page).href
}

/** Quotes a text as curl's configuration file does. No value has a line break. */
function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`
}
