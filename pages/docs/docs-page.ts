import { addCopyButtons } from './copy-buttons.ts'

const docs = document.querySelector('.docs') as HTMLElement
const { noMatch = '' } = docs.dataset
const filter = docs.querySelector('input') as HTMLInputElement
const outcome = docs.querySelector('[role=status]') as HTMLElement

const routes = [...docs.querySelectorAll<HTMLAnchorElement>('li a')].map((link) => {
  const section = document.getElementById(link.hash.slice(1)) as HTMLElement
  const [heading, summary] = section.children
  const text = `${heading?.textContent} ${summary?.textContent}`.toLowerCase()
  return { parts: [link.parentElement as HTMLElement, section], text }
})

/** The style sheet hides a group without a route. */
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

/** One task for all of them would take too long. */
function layOut(sections: HTMLElement[]): void {
  for (const section of sections.splice(0, 6)) section.style.contentVisibility = 'visible'
  if (sections.length > 0) requestAnimationFrame(() => layOut(sections))
  // Not every browser keeps the place of what those above have moved.
  else if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView()
}

addCopyButtons(docs)
filter.addEventListener('input', showMatches)
filter.closest('[hidden]')?.removeAttribute('hidden')
// A browser that goes back fills the field again.
showMatches()
layOut([...docs.querySelectorAll('section')])
