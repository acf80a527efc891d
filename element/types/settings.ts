// What templates may set on the elements, for the typings of React, Vue and Svelte beside this file.
import type { LitElement } from 'lit'
import type { CarillonBell } from '../bell/carillon-bell.ts'
import type { CarillonElement } from '../carillon-element.ts'

type Optional<Type, Name extends keyof Type> = { [Key in Name]?: Type[Key] | undefined }

type Shared =
  | 'lang'
  | Exclude<keyof CarillonElement, keyof LitElement | 'signInLink' | 'signOut' | 'source'>

export type InboxProperties = Optional<CarillonElement, Shared>
export type BellProperties = InboxProperties & Optional<CarillonBell, 'placement' | 'badge'>
/** Attributes whose names differ from those of the properties, and listeners. */
export type DashedAttributes = {
  'sign-in-url'?: string | undefined
  'all-url'?: string | undefined
  'title-badge'?: boolean | '' | undefined
  'app-badge'?: boolean | '' | undefined
  'push-worker'?: string | undefined
  'oncarillon-open'?: Listener<'carillon-open'> | undefined
  'oncarillon-change'?: Listener<'carillon-change'> | undefined
}
export type Listener<Name extends keyof HTMLElementEventMap> = (
  event: HTMLElementEventMap[Name],
) => void
