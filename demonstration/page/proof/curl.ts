// A request of the demonstration as a command for a terminal.
import type { Exchange } from '../../server/api.ts'
import { cookieSentBy, fieldOf } from './proof-parts.ts'

/** `cookieName`: of the session in this world; the command has no other cookie. */
export function curlOf(exchange: Exchange, { address, cookieName }: CurlPlace): string {
  const { request } = exchange
  const method = request.line.split(' ', 1)[0] ?? 'GET'
  const field = (name: string) => headerOf(name, fieldOf(exchange, name))
  const visible = [...field('carillon-visit'), ...field('content-type')]
  const secret = [
    ...field('authorization'),
    ...headerOf('cookie', cookieSentBy(exchange, cookieName)),
  ]
  const hasBody = request.body !== ''
  // Arguments are visible to every user of the machine, so a secret goes through the standard
  // input.
  const input = hasBody ? request.body : secret.join('\n')
  const isUsual = method === (hasBody ? 'POST' : 'GET')
  const parts = [
    isUsual ? 'curl -si' : `curl -si -X ${method}`,
    ...visible.map((header) => `-H ${quoted(header)}`),
    ...(hasBody ? ['-d @-'] : secret.slice(0, 1).map(() => '-H @-')),
    quoted(address),
  ]
  const command = parts.join(' \\\n  ')
  return input === '' ? command : `${command} <<'END'\n${input}\nEND`
}

type CurlPlace = { address: string; cookieName: string }

/** `base`: relative to the page. */
export function addressOf({ request }: Exchange, page: string, base: string): string {
  const path = request.line.split(' ')[1] ?? ''
  return new URL(base + path.replace(/^.*?\/demonstration\//, ''), page).href
}

function headerOf(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`${name}: ${value}`]
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
