// `carillon-inbox/react`: defines the elements, with types for JSX of React 19. If the page loads
// the script from Carillon, use `import type {} from 'carillon-inbox/react'`.
import '../carillon-inbox.ts'
import type { DetailedHTMLProps, HTMLAttributes } from 'react'
import type { CarillonBell } from '../bell/carillon-bell.ts'
import type { CarillonInbox } from '../inbox/carillon-inbox.ts'
import type { BellProperties, DashedAttributes, InboxProperties } from './settings.ts'

type Props<Type, Properties> = DetailedHTMLProps<HTMLAttributes<Type>, Type> &
  Properties &
  DashedAttributes

declare module 'react' {
  // biome-ignore lint/style/noNamespace: React declares its elements in this namespace.
  namespace JSX {
    interface IntrinsicElements {
      'carillon-bell': Props<CarillonBell, BellProperties>
      'carillon-inbox': Props<CarillonInbox, InboxProperties>
    }
  }
}
