// The script of the page of the API's description: a filter for its routes, and a button that copies each example.
import { addCopyButtons } from './copy-buttons.ts'

const docs = document.querySelector('.docs') as HTMLElement
const { noMatch = '' } = docs.dataset
const filter = docs.querySelector('input') as HTMLInputElement
const outcome = docs.querySelector('[role=status]') as HTMLElement

/** Each link of the list with its section, and their text: method, path, name and summary. */
const routes = [...docs.querySelectorAll<HTMLAnchorElement>('li a')].map((link) => {
  const section = document.getElementById(link.hash.slice(1)) as HTMLElement
  const [heading, summary] = section.children
  const text = `${heading?.textContent} ${summary?.textContent}`.toLowerCase()
  return { parts: [link.parentElement as HTMLElement, section], text }
})

/** A route is displayed if it has every word. The style sheet hides a group that displays none. */
function showMatches(): void {
  const words = filter.value.toLowerCase().split(/\s/)
  let isAny = false
  for (const { parts, text } of routes) {
    const isMatch = words.every((word) => text.includes(word))
    for (const part of parts) part.hidden = !isMatch
    isAny ||= isMatch
  }
  outcome.textContent = isAny ? '' : noMatch
}

addCopyButtons(docs)
filter.addEventListener('input', showMatches)
filter.closest('[hidden]')?.removeAttribute('hidden')
// A browser that goes back fills the field again.
showMatches()
