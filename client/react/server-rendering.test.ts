import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { createCarillon } from '../carillon-client.ts'
import { notificationPage } from '../testing/pages.ts'
import { useInbox } from './carillon-react.ts'
import { Boards, type BoardsProps } from './testing/board.ts'

const requested: string[] = []
const carillon = createCarillon({
  baseUrl: 'https://bell.example',
  fetch: async (url) => {
    requested.push(url)
    return Response.error()
  },
})

function render(props: BoardsProps): string {
  return renderToString(createElement(Boards, props))
}

test('a server renders the page that the provider received', () => {
  const initial = notificationPage(['Second', 'First'])
  const rendered =
    '<section><output>2 unread, loading</output><ul><li>Second</li><li>First</li></ul></section>'
  assert.equal(render({ carillon, initial }), rendered)
  assert.equal(render({ initial, lists: [{ limit: 50 }] }), rendered)
})

test('a server renders the page that the hook received, in place of the page of the provider', () => {
  const lists = [{ status: 'unread' as const, initial: notificationPage(['Own']) }]
  assert.match(
    render({ carillon, initial: notificationPage(['Of the provider']), lists }),
    /<ul><li>Own<\/li><\/ul>/,
  )
})

test('the page of the provider is not shown in a list with a filter', () => {
  const initial = notificationPage(['First'])
  for (const options of [
    { status: 'unread' as const },
    { category: 'orders' },
    { category: ['orders', 'news'] },
  ])
    assert.match(
      render({ carillon, initial, lists: [options] }),
      /<output>0 unread, loading<\/output><ul><\/ul>/,
    )
})

test('without a page, and without a provider, a server renders an empty list that is loading', () => {
  const Bell = () => {
    const { unread, state, items, isLoading } = useInbox()
    return createElement('output', null, JSON.stringify({ unread, state, items, isLoading }))
  }
  const text = renderToString(createElement(Bell)).replaceAll('&quot;', '"')
  assert.equal(text, '<output>{"unread":0,"state":"loading","items":[],"isLoading":true}</output>')
})

test('what a server renders for one user does not appear in what it renders for the next (C15)', () => {
  render({ carillon, initial: notificationPage(['Secret']) })
  assert.doesNotMatch(render({ carillon }), /Secret/)
})

test('rendering on a server sends no request', async () => {
  render({ carillon, lists: [undefined, { status: 'unread' }] })
  await new Promise((resolve) => setTimeout(resolve, 100))
  assert.deepEqual(requested, [])
})
