// The settings of both elements. A base class, because Lit inherits reactive properties.
import type { Auth, Carillon, Notification, PushOptions } from 'carillon-client'
import { LitElement, type PropertyDeclarations } from 'lit'
import { defaultServer, InboxSource } from './inbox-source.ts'
import type { Strings } from './languages/en/inbox.ts'

export class CarillonElement extends LitElement {
  static override properties: PropertyDeclarations = {
    server: {},
    lang: { reflect: true },
    theme: { reflect: true },
    signInUrl: { attribute: 'sign-in-url' },
    allUrl: { attribute: 'all-url' },
    limit: { type: Number },
    category: {},
    titleBadge: { type: Boolean, attribute: 'title-badge' },
    appBadge: { type: Boolean, attribute: 'app-badge' },
    pushWorker: { attribute: 'push-worker' },
    auth: { attribute: false },
    carillon: { attribute: false },
    strings: { attribute: false },
    renderItem: { attribute: false },
  }

  /** The address of Carillon. Default: the one that served this script, or the origin of the page. */
  declare server: string | undefined
  declare theme: 'light' | 'dark' | 'auto' | undefined
  declare signInUrl: string | undefined
  /** The page of the link "See all"; '' for no link. */
  declare allUrl: string | undefined
  /** The size of a page; default 20. */
  declare limit: number | undefined
  /** One or more categories, separated by spaces. */
  declare category: string | undefined
  declare titleBadge: boolean
  /** Displays the number on the icon of an installed application (Badging API). */
  declare appBadge: boolean
  /** The service worker of web push, on the origin of the page. Default: that of the service, if it is on the same origin. */
  declare pushWorker: string | undefined
  /** The `auth` of the client. Default: the cookie. */
  declare auth: Auth | undefined
  /** A client that the page has already, in place of `server` and `auth`. */
  declare carillon: Carillon | undefined
  declare strings: Partial<Strings> | undefined
  declare renderItem: ((notification: Notification) => Node) | undefined

  readonly source: InboxSource = new InboxSource(this)

  /** The `signOut` of the client: ends what the page keeps of the user, without a request. */
  signOut(): void {
    this.source.client?.signOut()
  }

  /** Default: `sign-in` of the service, which leads back to this page. */
  get signInLink(): string {
    return (
      this.signInUrl || `${this.pageOf('sign-in')}?return_to=${encodeURIComponent(location.href)}`
    )
  }

  /** A click on a push opens the page "See all", or else this page. */
  get pushOptions(): PushOptions {
    return { worker: this.pushWorker || undefined, url: this.allUrl || location.href }
  }

  protected pageOf(name: string): string {
    return new URL(name, new URL(this.server || defaultServer || '/', location.href)).href
  }
}
