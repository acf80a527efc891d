import type { Strings } from '../../languages/en/inbox.ts'
import type { Entry } from './menu.ts'

const acts = {
  j: 'next',
  k: 'previous',
  e: 'archive',
  u: 'toggle',
  s: 'snooze',
  '.': 'more',
  '#': 'delete',
  Delete: 'delete',
  z: 'undo',
  '?': 'help',
} as const
const moves = {
  ArrowDown: 'next',
  ArrowUp: 'previous',
  PageDown: 'next',
  PageUp: 'previous',
  Enter: 'open',
} as const
const jumps = { Home: 'start', End: 'end' } as const

export type Act = Exclude<(typeof acts)[keyof typeof acts], 'next' | 'previous'> | 'unfold'
type Key = Act | 'next' | 'previous' | 'open' | 'start' | 'end'

/** A reader who speaks to the computer turns single keys off, on this device (WCAG 2.2, 2.1.4). */
const offName = 'carillon-keys-off'
let isOff = kept(() => localStorage.getItem(offName)) !== null

function turnKeys(): void {
  isOff = !isOff
  kept(() => (isOff ? localStorage.setItem(offName, '') : localStorage.removeItem(offName)))
}

type Acts = { step(by: 1 | -1): void; open(): void; press(act: Act): void }

export function keyEntries(strings: Strings, { step, open, press }: Acts): Entry[] {
  const { keys } = strings
  const entry = (label: string, detail: string, act: Act) => ({
    label,
    detail,
    act: () => press(act),
  })
  return [
    { label: keys.next, detail: 'j ↓', act: () => step(1) },
    { label: keys.previous, detail: 'k ↑', act: () => step(-1) },
    { label: keys.open, detail: 'Enter', act: open },
    entry(strings.archive, 'e', 'archive'),
    entry(keys.unread, 'u', 'toggle'),
    entry(keys.snooze, 's', 'snooze'),
    entry(strings.delete, '#', 'delete'),
    entry(strings.undo, 'z', 'undo'),
    entry(strings.more, '.', 'more'),
    { label: isOff ? keys.on : keys.off, act: turnKeys },
  ]
}

/** Undefined if the key is not for the list. */
export function keyOf(
  event: KeyboardEvent,
  place: { list: Element; isInBell: boolean },
): Key | undefined {
  const { key, ctrlKey, metaKey, altKey } = event
  const target = event.composedPath()[0]
  if (!(target instanceof Element) || !isForList(event, target, place)) return undefined
  const article = target.closest('article')
  if (key === 'Enter') return target === article ? 'open' : undefined
  if (ctrlKey) return article ? own(jumps, key) : undefined
  if (metaKey || altKey) return undefined
  return keyAlone(key, target, article)
}

function keyAlone(key: string, target: Element, article: Element | null): Key | undefined {
  // What the page itself puts into an item has keys of its own.
  const isOwn = !article || target.matches('article,[part=item-toggle],[part=item-acts] button')
  const move = article ? own(moves, key) : undefined
  if (move) return isOwn || key.startsWith('Page') ? move : undefined
  return isOwn && !isOff ? own(acts, key) : undefined
}

function own(keys: Readonly<Record<string, Key>>, key: string): Key | undefined {
  return Object.hasOwn(keys, key) ? keys[key] : undefined
}

function isForList(
  event: KeyboardEvent,
  target: Element,
  { list, isInBell }: { list: Element; isInBell: boolean },
) {
  if (event.defaultPrevented || event.isComposing) return false
  if (
    target.matches('input,textarea,select,[contenteditable]') ||
    target.closest('[part=menu],[part=preferences]')
  )
    return false
  if (event.composedPath().includes(list)) return true
  // Behind an open dialog, the list is inert.
  const isInert = [document, list.shadowRoot].some((root) => root?.querySelector('dialog:modal'))
  return !isInBell && target === document.body && !isInert
}

function kept<Value>(use: () => Value): Value | null {
  try {
    return use()
  } catch {
    return null
  }
}
