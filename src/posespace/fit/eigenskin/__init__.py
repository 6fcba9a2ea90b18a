"""EigenSkin: corrections compressed by principal components, joint by joint."""
