// Components that show what `useInbox()` returns, on a server and in a page.
import { createElement } from 'react'
import type { Carillon, NotificationPage } from '../../carillon-client.ts'
import type { OpenOptions } from '../../store/inbox-list.ts'
import { CarillonProvider, type UseInbox, useInbox } from '../carillon-react.ts'

type BoardProps = {
  options?: OpenOptions | undefined
  onRender?: ((inbox: UseInbox) => void) | undefined
}

export type BoardsProps = {
  /** By default, one board without options. */
  lists?: (OpenOptions | undefined)[] | undefined
  carillon?: Carillon | undefined
  initial?: NotificationPage | undefined
  onRender?: ((inbox: UseInbox, index: number) => void) | undefined
}

function Board({ options, onRender }: BoardProps) {
  const inbox = useInbox(options)
  onRender?.(inbox)
  const items = inbox.items.map(({ id, title, read }) =>
    createElement('li', { key: id }, `${title}${read ? ', read' : ''}`),
  )
  const counter = createElement('output', null, `${inbox.unread} unread, ${inbox.state}`)
  return createElement('section', null, counter, createElement('ul', null, items))
}

export function Boards({ lists = [undefined], carillon, initial, onRender }: BoardsProps) {
  const boards = lists.map((options, index) =>
    createElement(Board, { key: index, options, onRender: (inbox) => onRender?.(inbox, index) }),
  )
  return createElement(CarillonProvider, { carillon, initial }, boards)
}
