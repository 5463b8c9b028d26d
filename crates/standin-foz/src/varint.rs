//! SPIR-V words as variable-length integers: 7 bits a byte, lowest first, the top bit set where
//! more follow.

/// Decodes `words` words that must take up exactly `bytes`.
///
/// # Errors
/// What is wrong: a word of more than 5 bytes, too few bytes, or bytes left over.
pub(crate) fn decode(bytes: &[u8], words: usize) -> Result<Vec<u32>, &'static str> {
    // Every word takes a byte, so the count is bounded by what is there.
    if words > bytes.len() {
        return Err("more words than bytes");
    }
    let mut out = Vec::with_capacity(words);
    let mut rest = bytes.iter();
    for _ in 0..words {
        let mut word = 0;
        let mut shift = 0;
        loop {
            let byte = *rest.next().ok_or("it ends within a word")?;
            // In the fifth byte only the low 4 bits fit; the others are shifted out.
            word |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
            shift += 7;
            if shift > 28 {
                return Err("a word has more than 5 bytes");
            }
        }
        out.push(word);
    }
    if rest.next().is_some() {
        return Err("bytes are left over");
    }
    Ok(out)
}

/// Appends the shortest form of each word.
pub(crate) fn encode(words: &[u32], out: &mut Vec<u8>) {
    out.reserve(words.len() * 2);
    for &word in words {
        let mut word = word;
        while word >= 0x80 {
            out.push(word as u8 | 0x80);
            word >>= 7;
        }
        out.push(word as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn words_round_trip_in_their_shortest_form() {
        let words = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x0720_0000, u32::MAX];
        let mut bytes = Vec::new();
        encode(&words, &mut bytes);
        // 7 bits a byte: 1, 1, 1, 2, 2, 3, 4 and 5 bytes.
        assert_eq!(bytes.len(), 1 + 1 + 1 + 2 + 2 + 3 + 4 + 5);
        assert_eq!(decode(&bytes, words.len()), Ok(words.to_vec()));
    }

    #[test]
    fn a_sixth_byte_is_refused() {
        let bytes = [0x80, 0x80, 0x80, 0x80, 0x80, 0x00];
        assert_eq!(decode(&bytes, 1), Err("a word has more than 5 bytes"));
    }

    #[test]
    fn a_fifth_byte_gives_its_low_four_bits() {
        assert_eq!(
            decode(&[0x80, 0x80, 0x80, 0x80, 0x7f], 1),
            Ok(vec![0xf000_0000])
        );
    }

    #[test]
    fn the_end_within_a_word_is_refused() {
        assert_eq!(decode(&[0x01, 0x80], 2), Err("it ends within a word"));
        assert_eq!(decode(&[0x01], 2), Err("more words than bytes"));
        assert_eq!(decode(&[0x01, 0x01], 1), Err("bytes are left over"));
    }
}
