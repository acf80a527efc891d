// The settings of both elements, and the source of what they display. A base class, because Lit inherits reactive properties.
import type { Auth, Carillon, Notification } from 'carillon-client'
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
  /** The number of unread notifications in the title of the document. */
  declare titleBadge: boolean
  /** The number of unread notifications on the icon of an installed application (Badging API). */
  declare appBadge: boolean
  /** The `auth` of the client: a function that returns an access token, or null if no user is signed in. Default: the cookie. */
  declare auth: Auth | undefined
  /** A client that the page has already, in place of `server` and `auth`. */
  declare carillon: Carillon | undefined
  /** Replaces some of the texts. */
  declare strings: Partial<Strings> | undefined
  /** Makes the content of an item. */
  declare renderItem: ((notification: Notification) => Node) | undefined

  readonly source: InboxSource = new InboxSource(this)

  /** The `signOut` of the client: ends what the page keeps of the user, without a request. */
  signOut(): void {
    this.source.client?.signOut()
  }

  /** The page to sign in at. The default is `sign-in` of the service, which leads back to this page. */
  get signInLink(): string {
    return this.signInUrl || `${this.pageOf('sign-in')}?return_to=${encodeURIComponent(location.href)}`
  }

  /** The address of a page of the service. */
  protected pageOf(name: string): string {
    return new URL(name, new URL(this.server || defaultServer || '/', location.href)).href
  }
}
