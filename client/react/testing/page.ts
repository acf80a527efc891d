// Renders boards in a page of the browser, and records what they received and what failed.
import { createElement, StrictMode } from 'react'
import { createRoot, hydrateRoot, type Root } from 'react-dom/client'
import { type Carillon, createCarillon } from '../../carillon-client.ts'
import type { UseInbox } from '../carillon-react.ts'
import { Boards, type BoardsProps } from './board.ts'

export type Shown = Pick<BoardsProps, 'lists' | 'initial'> & {
  /** By default, the shared client with the cookie. */
  token?: string | undefined
  isStrict?: boolean | undefined
}

class ReactPage {
  #root: Root | undefined
  readonly #clients = new Map<string, Carillon>()
  readonly inboxes: UseInbox[] = []
  /** By board and render. */
  readonly renders: string[][][] = []
  /** Rejections without a handler are among them. */
  readonly failures: string[] = []

  constructor() {
    globalThis.addEventListener('unhandledrejection', ({ reason }) =>
      this.failures.push(String(reason)),
    )
  }

  show(shown: Shown = {}): void {
    this.#root ??= createRoot(this.#element, this.#options)
    this.#root.render(this.#tree(shown))
  }

  hydrate(shown: Shown): void {
    this.#root = hydrateRoot(this.#element, this.#tree(shown), this.#options)
  }

  remove(): void {
    this.#root?.unmount()
    this.#root = undefined
  }

  get #element(): Element {
    return document.querySelector('#root') as Element
  }

  get #options() {
    const fail = (error: unknown) => this.failures.push(String(error))
    return { onRecoverableError: fail, onUncaughtError: fail, onCaughtError: fail }
  }

  #tree({ lists, initial, token, isStrict }: Shown) {
    const onRender = (inbox: UseInbox, index: number) => {
      this.inboxes[index] = inbox
      this.renders[index] ??= []
      this.renders[index].push(inbox.items.map(({ title }) => title))
    }
    const carillon = token === undefined ? undefined : this.#clientOf(token)
    const boards = createElement(Boards, { lists, initial, carillon, onRender })
    return isStrict ? createElement(StrictMode, null, boards) : boards
  }

  #clientOf(token: string): Carillon {
    const client = this.#clients.get(token) ?? createCarillon({ auth: () => token })
    this.#clients.set(token, client)
    return client
  }
}

declare global {
  var react: ReactPage
}
globalThis.react = new ReactPage()
