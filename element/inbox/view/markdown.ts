// A body in Markdown: bold text, links and code become elements, everything else text. No HTML is
// parsed, so a body cannot contain markup.
import { safeLink } from './links.ts'

/** A backslash before a mark, a block of code, code, bold text, a link. Only blocks span lines. */
const marks =
  /\\([\\`*[\]])|```(?:\w*\n)?((?:[^`]|`(?!``))+?)\n?```|`([^`\n]+)`|\*\*(?!\s)((?:[^*\n]|\*(?!\*))*[^\s*])\*\*|\[([^[\]\n]+)\]\(([^\s()]+)\)/g

export function markdown(text: string): DocumentFragment {
  const nodes = document.createDocumentFragment()
  let end = 0
  for (const match of text.matchAll(marks)) {
    nodes.append(text.slice(end, match.index), nodeOf(match))
    end = match.index + match[0].length
  }
  nodes.append(text.slice(end))
  return nodes
}

function nodeOf([all, escaped, block, code, bold, label, url]: RegExpExecArray): Node | string {
  if (escaped) return escaped
  if (block || code)
    return element('code', { part: block ? 'item-code-block' : 'item-code' }, block || code || '')
  if (bold) return element('strong', {}, markdown(bold))
  const link = safeLink(url ?? null)
  return link
    ? element('a', { part: 'item-link', href: link, rel: 'noopener' }, markdown(label ?? ''))
    : all
}

function element(
  name: string,
  attributes: Record<string, string>,
  content: Node | string,
): HTMLElement {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(content)
  return made
}
