// Text in which the proofs have the colour of their lane. The text itself stays complete: a style shortens what is long.
import { html } from 'lit/html.js'

const tokenShape = /[\w-]{20,}\.[\w-]{40,}\.[\w-]{80,}/

export function proofText(text: string, cookieName?: string): unknown {
  const found = tokenShape.exec(text)?.[0]
  if (found !== undefined) {
    const [before = '', after = ''] = text.split(found)
    return html`${before}${tokenText(found)}${after}`
  }
  if (cookieName === undefined || !text.includes(`${cookieName}=`)) return text
  return text.split('; ').map((pair, at) => html`${at > 0 ? '; ' : ''}${pairText(pair, cookieName)}`)
}

/** The cookie of the session, another one, or an attribute. */
function pairText(pair: string, cookieName: string): unknown {
  if (pair.startsWith(`${cookieName}=`)) return cookieText(pair)
  const at = pair.indexOf('=') + 1
  return at === 0 || pair.length < 40 ? pair : html`${pair.slice(0, at)}<span class="short">${pair.slice(at)}</span>`
}

/** `pair`: name and value. */
export function cookieText(pair: string) {
  const at = pair.indexOf('=') + 1
  const dot = pair.indexOf('.', at)
  if (dot < 0) return html`<span class="proof of-session">${pair}</span>`
  return html`<span class="proof of-session">${pair.slice(0, at)}<span class="short">${pair.slice(at, dot)}</span>.<span class="short">${pair.slice(dot + 1)}</span></span>`
}

/** The three parts, each in its own shade. */
export function tokenText(token: string) {
  const [header, claims, signature] = token.split('.')
  return html`<span class="proof of-token"><span class="short piece-0">${header}</span>.<span class="short piece-1">${claims}</span>.<span class="short piece-2">${signature}</span></span>`
}
