// The typings of the elements for the DOM, React, Vue and Svelte: this file compiles only if they accept what is right, and refuse
// what is wrong (`@ts-expect-error`).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Carillon, createCarillon, type Notification } from 'carillon-client'
import type {} from 'carillon-inbox/react'
import type {} from 'carillon-inbox/svelte'
import type {} from 'carillon-inbox/vue'
import { createElement, type JSX } from 'react'
import type { SvelteHTMLElements } from 'svelte/elements'
import { type GlobalComponents, h } from 'vue'

const carillon: Carillon = createCarillon({ baseUrl: 'https://bell.example' })
const auth = () => Promise.resolve(Math.random() < 0.5 ? 'token' : null)
const titles: string[] = []
const opened = (event: CustomEvent<Notification>) => {
  event.preventDefault()
  titles.push(event.detail.title)
}

test('the DOM knows the elements by name, and the events by name', () => {
  const bell = (document: Document) => {
    const found = document.querySelector('carillon-bell')
    found?.addEventListener('carillon-open', ({ detail }) => titles.push(detail.title))
    found?.addEventListener('carillon-change', ({ detail }) => titles.push(detail.unread.toFixed()))
    // @ts-expect-error `theme` is one of three words
    if (found) found.theme = 'blue'
    const created = document.createElement('carillon-inbox')
    created.auth = auth
    created.auth = 'cookie'
    // @ts-expect-error a token is returned by a function
    created.auth = 'token'
    created.signOut()
  }
  assert.equal(typeof bell, 'function')
})

test('JSX of React accepts attributes, properties and events of the elements, and no others', () => {
  const bell: JSX.IntrinsicElements['carillon-bell'] = {
    carillon,
    theme: 'dark',
    className: 'bell',
    'sign-in-url': '/sign-in',
    'all-url': '/inbox',
    badge: 'unseen',
    'title-badge': true,
    'oncarillon-open': opened,
    ref: (element) => element?.focus(),
    key: 1,
  }
  const inbox: JSX.IntrinsicElements['carillon-inbox'] = {
    auth,
    server: '/bell/',
    limit: 10,
    category: 'orders',
  }
  // @ts-expect-error there is no such attribute
  const wrong: JSX.IntrinsicElements['carillon-inbox'] = { sign_in_url: '/sign-in' }
  assert.equal(
    createElement('carillon-bell', bell, createElement('carillon-inbox', { ...inbox, ...wrong }))
      .type,
    'carillon-bell',
  )
})

test("templates of Vue accept the elements' properties and events, and no others", () => {
  type Props<Name extends 'carillon-bell' | 'carillon-inbox'> = InstanceType<
    GlobalComponents[Name]
  >['$props']
  const bell: Props<'carillon-bell'> = {
    carillon,
    theme: 'dark',
    class: 'bell',
    signInUrl: '/sign-in',
    allUrl: '/inbox',
    badge: 'unseen',
    titleBadge: true,
    onCarillonOpen: opened,
  }
  const inbox: Props<'carillon-inbox'> = { auth, server: '/bell/', limit: 10, category: 'orders' }
  // @ts-expect-error `theme` is one of three words
  const wrong: Props<'carillon-inbox'> = { theme: 'blue' }
  assert.equal(
    h('carillon-bell', bell, [h('carillon-inbox', { ...inbox, ...wrong })]).type,
    'carillon-bell',
  )
})

test('components of Svelte accept attributes, properties and events of the elements, and no others', () => {
  const bell: SvelteHTMLElements['carillon-bell'] = {
    carillon,
    theme: 'dark',
    class: 'bell',
    'sign-in-url': '/sign-in',
    'title-badge': true,
    'oncarillon-open': opened,
  }
  const inbox: SvelteHTMLElements['carillon-inbox'] = {
    auth,
    server: '/bell/',
    limit: 10,
    category: 'orders',
  }
  // @ts-expect-error `theme` is one of three words
  const wrong: SvelteHTMLElements['carillon-inbox'] = { theme: 'blue' }
  assert.deepEqual([bell.theme, inbox.limit, wrong.theme], ['dark', 10, 'blue'])
})
