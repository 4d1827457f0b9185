package trunkgroup

// DeckSpec routes by rate decks that stand beside the document.
type DeckSpec struct {
	Name string `yaml:"name" json:"name"` // of the deck with what carriers cost
}
